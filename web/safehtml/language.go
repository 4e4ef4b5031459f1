package safehtml

import (
	"path"
	"slices"
	"strings"
)

// language describes how to recognise comments, strings, numbers and keywords. It
// is not a grammar: anything else is shown as plain text.
type language struct {
	names    string // info strings of code blocks and file name extensions
	line     string // starts of a line comment, separated by spaces
	block    string // start and end of a block comment
	quotes   string // quotes of strings on one line, with backslash escapes
	long     string // quotes of strings over several lines, separated by spaces
	keywords string
	tags     bool // it is made of elements
	words    bool // a comment begins only where a word could, as in shells
	caseless bool
}

const (
	cWords  = "break case char const continue default do double else enum extern float for goto if inline int long register return short signed sizeof static struct switch typedef union unsigned void volatile while NULL true false bool #include #define #ifdef #ifndef #if #else #elif #endif #pragma #undef"
	jsWords = "async await break case catch class const continue debugger default delete do else export extends false finally for from function get if import in instanceof let new null of return set static super switch this throw true try typeof undefined var void while yield"
)

// languages are the known languages. A Form is an index into it.
var languages = [...]language{
	{names: "go golang", line: "//", block: "/* */", quotes: `"'`, long: "`", keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota"},
	{names: "js javascript jsx mjs cjs node", line: "//", block: "/* */", quotes: `"'`, long: "`", keywords: jsWords},
	{names: "ts typescript tsx mts cts", line: "//", block: "/* */", quotes: `"'`, long: "`", keywords: jsWords + " abstract any as boolean declare enum implements interface keyof namespace never number private protected public readonly string type unknown"},
	{names: "py python python3 pyi", line: "#", quotes: `"'`, long: `""" '''`, keywords: "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield match case self"},
	{names: "sh bash zsh shell ksh console shellscript", line: "#", quotes: `"'`, words: true, keywords: "if then else elif fi for in do done while until case esac function return exit export local readonly set unset source alias trap shift break continue eval exec"},
	{names: "c h", line: "//", block: "/* */", quotes: `"'`, keywords: cWords},
	{names: "cpp c++ cc cxx hpp hh hxx cu", line: "//", block: "/* */", quotes: `"'`, keywords: cWords + " auto catch class constexpr delete explicit final friend namespace new noexcept nullptr operator override private protected public template this throw try typename using virtual"},
	{names: "cs csharp", line: "//", block: "/* */", quotes: `"'`, keywords: "abstract as async await base bool break byte case catch class const continue decimal default delegate do double else enum event false finally float for foreach get if in int interface internal is lock long namespace new null object out override params private protected public readonly record ref return sealed set static string struct switch this throw true try typeof using var virtual void while yield"},
	{names: "java", line: "//", block: "/* */", quotes: `"'`, long: `"""`, keywords: "abstract assert boolean break byte case catch char class continue default do double else enum extends final finally float for if implements import instanceof int interface long native new null package private protected public record return short static super switch synchronized this throw throws transient true false try var void volatile while"},
	{names: "kt kts kotlin", line: "//", block: "/* */", quotes: `"'`, long: `"""`, keywords: "as break by catch class companion continue data do else false final finally for fun if import in init interface internal is lateinit null object open operator override package private protected public return sealed super suspend this throw true try typealias val var when while"},
	{names: "swift", line: "//", block: "/* */", quotes: `"`, long: `"""`, keywords: "as associatedtype async await break case catch class continue default defer do else enum extension fallthrough false final for func guard if import in init inout internal is let nil open override private protocol public repeat return self static struct super switch throw throws true try typealias var where while"},
	{names: "rs rust", line: "//", block: "/* */", quotes: `"`, keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while"},
	{names: "scala sc", line: "//", block: "/* */", quotes: `"`, long: `"""`, keywords: "abstract case catch class def do else extends false final finally for given if implicit import lazy match new null object override package private protected return sealed super this throw trait true try type val var while with yield"},
	{names: "dart", line: "//", block: "/* */", quotes: `"'`, keywords: jsWords + " abstract as dynamic enum factory final implements late mixin operator part required typedef with"},
	{names: "php", line: "//", block: "/* */", quotes: `"'`, keywords: "abstract and array as break case catch class const continue declare default do echo else elseif extends false final finally fn for foreach function if implements include instanceof interface isset match namespace new null or private protected public readonly require return static switch this throw trait true try unset use var while yield"},
	{names: "rb ruby", line: "#", quotes: `"'`, words: true, keywords: "alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield require attr_accessor attr_reader"},
	{names: "pl perl pm", line: "#", quotes: `"`, words: true, keywords: "and else elsif for foreach if last local my next no not or our package redo return sub unless until use while"},
	{names: "lua", line: "--", block: "--[[ ]]", quotes: `"'`, keywords: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while"},
	{names: "ex exs elixir", line: "#", quotes: `"`, long: `"""`, keywords: "after and case catch cond def defmacro defmodule defp defstruct do else end false fn for if import in nil not or quote raise receive require rescue true try unless use when with"},
	{names: "hs haskell", line: "--", block: "{- -}", quotes: `"`, keywords: "case class data deriving do else foreign if import in infix instance let module newtype of then type where"},
	{names: "sql psql pgsql sqlite mysql", line: "--", block: "/* */", quotes: `'`, caseless: true, keywords: "add all alter and as asc begin between by case cast check column commit constraint create cross database default delete desc distinct drop else end exists explain false foreign from full function group having if in index inner insert into is join key left like limit not null offset on or order outer partition primary references returning right rollback select set table then transaction trigger true union unique update using values view when where with"},
	{names: "yaml yml", line: "#", quotes: `"'`, words: true, keywords: "true false null yes no"},
	{names: "toml", line: "#", quotes: `"'`, long: `""" '''`, keywords: "true false"},
	{names: "ini cfg conf properties env", line: "# ;", quotes: `"`, words: true, keywords: "true false"},
	{names: "dockerfile docker containerfile", line: "#", quotes: `"'`, words: true, keywords: "FROM RUN CMD LABEL EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD STOPSIGNAL HEALTHCHECK SHELL AS"},
	{names: "makefile make mk", line: "#", quotes: `"'`, words: true, keywords: "ifeq ifneq ifdef ifndef else endif include define endef export override .PHONY"},
	{names: "tf hcl tfvars", line: "# //", block: "/* */", quotes: `"`, keywords: "resource variable output module provider data locals terraform for in if true false null"},
	{names: "proto protobuf", line: "//", block: "/* */", quotes: `"'`, keywords: "syntax package import option message enum service rpc returns stream repeated optional required oneof map reserved bool string bytes double float int32 int64 uint32 uint64 true false"},
	{names: "css", block: "/* */", quotes: `"'`, keywords: "@media @import @font-face @keyframes @supports @layer @container !important"},
	{names: "scss less sass", line: "//", block: "/* */", quotes: `"'`, keywords: "@media @import @use @mixin @include @extend @if @else @for @each @while @function @return !important"},
	{names: "html htm xml svg xhtml xsd xsl plist vue svelte", block: "<!-- -->", quotes: `"'`, tags: true},
	{names: "json jsonc json5 jsonl ndjson geojson ipynb", line: "//", quotes: `"`, keywords: "true false null"},
	{names: "r", line: "#", quotes: `"'`, keywords: "if else repeat while function for in next break TRUE FALSE NULL NA library"},
	{names: "ps1 powershell psm1", line: "#", block: "<# #>", quotes: `"'`, words: true, caseless: true, keywords: "begin break catch class continue do else elseif end enum exit finally for foreach function if in param process return switch throw try until using while"},
	{names: "nix", line: "#", block: "/* */", quotes: `"`, long: "''", keywords: "assert else if in inherit let rec then with true false null import"},
	{names: "zig", line: "//", quotes: `"'`, keywords: "align and break catch comptime const continue defer else enum error export extern fn for if inline or orelse pub return struct switch test try union unreachable usingnamespace var while true false null undefined"},
	{names: "clj cljs edn lisp el scm clojure", line: ";", quotes: `"`, keywords: "def defn defmacro fn if let loop recur do cond when ns require nil true false defun lambda setq"},
}

// Named returns the form of code in the language with that name; Text if it is
// unknown.
func Named(name string) Form {
	name = strings.ToLower(name)
	if name == "diff" || name == "patch" {
		return Patch
	}
	for i := range languages {
		if slices.Contains(strings.Fields(languages[i].names), name) {
			return code + Form(i)
		}
	}
	return Text
}

// OfFile returns the form of a file by its name; Text if it is unknown.
func OfFile(name string) Form {
	base := strings.ToLower(path.Base(strings.ReplaceAll(strings.TrimRight(name, "/\\"), `\`, "/")))
	switch ext := path.Ext(base); {
	case base == "makefile" || base == "gnumakefile":
		return Named("makefile")
	case base == "dockerfile" || strings.HasPrefix(base, "dockerfile.") || base == "containerfile":
		return Named("dockerfile")
	case base == ".bashrc" || base == ".zshrc" || base == ".profile":
		return Named("sh")
	case base == ".env" || base == ".gitconfig" || base == ".editorconfig":
		return Named("ini")
	case len(ext) > 1:
		return Named(ext[1:])
	}
	return Text
}

// OfBeginning returns the form of a text by its first line; Text if that does not
// identify it.
func OfBeginning(s string) Form {
	first, _, _ := strings.Cut(s[:min(len(s), 400)], "\n")
	rest, ok := strings.CutPrefix(first, "#!")
	switch low := strings.ToLower(first); {
	case ok:
		return interpreted(rest)
	case strings.HasPrefix(low, "<?php"):
		return Named("php")
	case strings.HasPrefix(low, "<?xml"), strings.HasPrefix(low, "<!doctype html"):
		return Named("xml")
	case strings.HasPrefix(first, "*** Begin Patch"):
		return Patch
	}
	return Text
}

// interpreted returns the form of a script by its interpreter.
func interpreted(line string) Form {
	words := strings.Fields(line)
	for _, word := range words {
		name := strings.TrimRight(path.Base(word), "0123456789.")
		if name == "env" || strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		return Named(name)
	}
	return Text
}
