package redact

import "regexp"

// rule recognises one kind of secret. A secret with a fixed beginning is searched by
// that.
type rule struct {
	kind    string
	literal string         // what it begins with
	rest    *regexp.Regexp // what follows, from its start
	own     *regexp.Regexp // a user's rule: its first group, or the whole match, is the secret
	inWord  bool           // it may be inside a word
}

func starts(kind, literal, rest string) rule {
	return rule{kind: kind, literal: literal, rest: regexp.MustCompile(`^(?:` + rest + `)`)}
}

// vendorRules are the keys and tokens that can be recognised by their form, as
// vendors document it or secret scanners know it. Of two with the same beginning, the
// longer comes first.
func vendorRules() []rule {
	return []rule{
		starts("anthropic", "sk-ant-", `[A-Za-z0-9_-]{20,}`),
		starts("openrouter", "sk-or-", `(?:v1-)?[A-Za-z0-9]{32,}`),
		starts("langfuse", "sk-lf-", `[0-9a-f-]{36}`),
		starts("openai", "sk-proj-", `[A-Za-z0-9_-]{20,}`),
		starts("openai", "sk-svcacct-", `[A-Za-z0-9_-]{20,}`),
		starts("openai", "sk-admin-", `[A-Za-z0-9_-]{20,}`),
		starts("openai", "sk-", `[A-Za-z0-9]{32,}`),
		starts("openai", "sess-", `[A-Za-z0-9]{40}`),
		starts("groq", "gsk_", `[A-Za-z0-9]{40,}`),
		starts("xai", "xai-", `[A-Za-z0-9]{60,}`),
		starts("cerebras", "csk-", `[a-z0-9]{40,}`),
		starts("perplexity", "pplx-", `[A-Za-z0-9]{40,}`),
		starts("fireworks", "fw_", `[A-Za-z0-9]{22,}`),
		starts("together", "tgp_v1_", `[A-Za-z0-9_-]{30,}`),
		starts("nvidia", "nvapi-", `[A-Za-z0-9_-]{50,}`),
		starts("replicate", "r8_", `[A-Za-z0-9]{37}`),
		starts("huggingface", "hf_", `[A-Za-z0-9]{30,}`),
		starts("langsmith", "lsv2_", `(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}`),
		starts("google", "AIza", `[A-Za-z0-9_-]{35}`),
		starts("google", "ya29.", `[A-Za-z0-9_-]{20,}`),
		starts("google", "GOCSPX-", `[A-Za-z0-9_-]{28}`),
		starts("google", "1//0", `[A-Za-z0-9_-]{40,}`),
		starts("aws", "AKIA", `[A-Z0-9]{16}`), starts("aws", "ASIA", `[A-Z0-9]{16}`), starts("aws", "ABIA", `[A-Z0-9]{16}`),
		starts("aws", "ABSK", `[A-Za-z0-9+/]{100,}={0,2}`), // Bedrock
		starts("github", "github_pat_", `[A-Za-z0-9_]{30,}`),
		starts("github", "ghp_", `[A-Za-z0-9]{36,}`), starts("github", "gho_", `[A-Za-z0-9]{36,}`), starts("github", "ghu_", `[A-Za-z0-9]{36,}`),
		starts("github", "ghs_", `[A-Za-z0-9]{36,}`), starts("github", "ghr_", `[A-Za-z0-9]{36,}`),
		starts("gitlab", "glpat-", `[A-Za-z0-9_-]{20,}`), starts("gitlab", "gldt-", `[A-Za-z0-9_-]{20,}`), starts("gitlab", "glrt-", `[A-Za-z0-9_-]{20,}`),
		starts("bitbucket", "ATBB", `[A-Za-z0-9]{32}`),
		starts("atlassian", "ATATT3", `[A-Za-z0-9_=-]{100,}`),
		starts("slack", "xoxb-", `[A-Za-z0-9-]{20,}`), starts("slack", "xoxp-", `[A-Za-z0-9-]{20,}`), starts("slack", "xoxa-", `[A-Za-z0-9-]{20,}`),
		starts("slack", "xoxr-", `[A-Za-z0-9-]{20,}`), starts("slack", "xoxs-", `[A-Za-z0-9-]{20,}`), starts("slack", "xapp-", `[A-Za-z0-9-]{20,}`),
		starts("slack", "https://hooks.slack.com/services/", `[A-Za-z0-9/]{30,}`),
		starts("discord", "https://discord.com/api/webhooks/", `[0-9]{15,}/[A-Za-z0-9_-]{50,}`),
		starts("stripe", "sk_live_", `[A-Za-z0-9]{16,}`), starts("stripe", "sk_test_", `[A-Za-z0-9]{16,}`), starts("stripe", "rk_live_", `[A-Za-z0-9]{16,}`),
		starts("stripe", "rk_test_", `[A-Za-z0-9]{16,}`), starts("stripe", "whsec_", `[A-Za-z0-9+/=]{24,}`),
		starts("sendgrid", "SG.", `[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`),
		starts("mailgun", "key-", `[0-9a-f]{32}`),
		starts("twilio", "SK", `[0-9a-f]{32}`),
		starts("npm", "npm_", `[A-Za-z0-9]{36}`),
		starts("pypi", "pypi-", `AgE[A-Za-z0-9_-]{50,}`),
		starts("rubygems", "rubygems_", `[0-9a-f]{48}`),
		starts("docker", "dckr_pat_", `[A-Za-z0-9_-]{27,}`),
		starts("databricks", "dapi", `[0-9a-f]{32}(?:-[0-9])?`),
		starts("digitalocean", "dop_v1_", `[0-9a-f]{64}`), starts("digitalocean", "doo_v1_", `[0-9a-f]{64}`),
		starts("doppler", "dp.pt.", `[A-Za-z0-9]{40,}`), starts("doppler", "dp.st.", `[A-Za-z0-9._-]{40,}`),
		starts("shopify", "shpat_", `[0-9a-fA-F]{32}`), starts("shopify", "shpss_", `[0-9a-fA-F]{32}`), starts("shopify", "shpca_", `[0-9a-fA-F]{32}`),
		starts("linear", "lin_api_", `[A-Za-z0-9]{32,}`),
		starts("notion", "ntn_", `[A-Za-z0-9]{40,}`), starts("notion", "secret_", `[A-Za-z0-9]{43}`),
		starts("figma", "figd_", `[A-Za-z0-9_-]{38,}`),
		starts("sentry", "sntrys_", `[A-Za-z0-9+/=_-]{40,}`), starts("sentry", "sntryu_", `[0-9a-f]{64}`),
		starts("grafana", "glsa_", `[A-Za-z0-9]{32}_[0-9a-f]{8}`), starts("grafana", "glc_", `[A-Za-z0-9+/=]{32,}`),
		starts("newrelic", "NRAK-", `[A-Z0-9]{27}`),
		starts("postman", "PMAK-", `[0-9a-f]{24}-[0-9a-f]{34}`),
		starts("hashicorp", "hvs.", `[A-Za-z0-9_-]{24,}`), starts("hashicorp", "hvb.", `[A-Za-z0-9_-]{24,}`),
		starts("supabase", "sbp_", `[0-9a-f]{40}`),
		starts("planetscale", "pscale_tkn_", `[A-Za-z0-9_.-]{32,}`),
		starts("flyio", "fm2_", `[A-Za-z0-9+/=_-]{60,}`),
		starts("heroku", "HRKU-", `[A-Za-z0-9_-]{36,}`),
		starts("airtable", "pat", `[A-Za-z0-9]{14}\.[0-9a-f]{64}`),
		starts("age", "AGE-SECRET-KEY-1", `[0-9A-Z]{58}`),
		starts("azure", "AccountKey=", `[A-Za-z0-9+/]{86}==`),
		starts("azure", "sig=", `[A-Za-z0-9%+/]{43,}(?:%3D|=)`),
		starts("jwt", "eyJ", `[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`),
		{kind: "pem", literal: "-----BEGIN ", inWord: true, rest: regexp.MustCompile(
			`^[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?s:.*?)-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\rn]{16,})`)},
	}
}
