// Counts the tokens (o200k_base) of texts: a JSON array of strings on stdin, an array of numbers on stdout.
// The first argument is the directory in which gpt-tokenizer is installed; its vocabulary comes with the package.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(`${process.argv[2]}/package.json`);
const { countTokens } = require("gpt-tokenizer/encoding/o200k_base");
const texts = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(texts.map((text) => countTokens(text))));
