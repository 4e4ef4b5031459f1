// Puts a few-shot export before a new question and sends it with the official
// SDKs: fewshot.mjs FOLDER-OF-THE-SDKS BASE_URL CHAT.json MESSAGES.json
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [sdks, base, chat, messages] = process.argv.slice(2);
const require = createRequire(sdks + '/');
const load = (name) => { const m = require(name); return m.default ?? m; };
const examples = (file) => JSON.parse(readFileSync(file, 'utf8'));
const question = { role: 'user', content: 'And without a tool: what was it? [[notool]]' };
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };

const OpenAI = load('openai');
const openai = new OpenAI({ baseURL: base + '/v1', apiKey: 'sk-test-xxxx', maxRetries: 0 });
const answer = await openai.chat.completions.create({
  model: 'gpt-4o-mini', messages: [...examples(chat), question],
  tools: [{ type: 'function', function: { name: 'get_weather', description: 'weather', parameters: schema } }],
});
if (!answer.choices[0].message.content) throw new Error('chat: no answer');

const Anthropic = load('@anthropic-ai/sdk');
const anthropic = new Anthropic({ baseURL: base, apiKey: 'sk-ant-test-xxxx', maxRetries: 0 });
const message = await anthropic.messages.create({
  model: 'claude-test', max_tokens: 1000, messages: [...examples(messages), question],
  tools: [{ name: 'get_weather', description: 'weather', input_schema: schema }],
});
if (!message.content.some((block) => block.type === 'text' && block.text)) throw new Error('messages: no answer');
