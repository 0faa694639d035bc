// The filter expression of the episode table: `success == 0 && steps > 400`. Parsed to a tree, then to a predicate;
// nothing is ever evaluated as code. Grammar: || over && over ! over comparisons; names, numbers, strings, ( ).
import type { EpisodeRow } from '#contract/run.ts';
import { accessorOf, fieldNames, type CellValue } from './row-columns.ts';

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';
type Operand =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'value'; readonly value: CellValue };
export type Expression =
  | { readonly kind: 'and' | 'or'; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'not'; readonly inner: Expression }
  | {
      readonly kind: 'compare';
      readonly operator: Comparison;
      readonly left: Operand;
      readonly right: Operand;
    }
  | { readonly kind: 'truthy'; readonly operand: Operand };

export type Compiled =
  | { readonly ok: true; readonly accepts: ((row: EpisodeRow) => boolean) | null }
  | { readonly ok: false; readonly message: string; readonly at: number };

interface Token {
  readonly kind: 'name' | 'number' | 'string' | 'symbol' | 'end';
  readonly text: string;
  readonly at: number;
}

class ExpressionError extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

const pattern =
  /\s*(?:(?<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<name>[A-Za-z_][\w.]*)|(?<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<symbol>==|!=|<=|>=|&&|\|\||[<>!()]))/y;
const comparisons: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);

/** An empty text accepts every row. `metrics` are the names an expression may use beside the row's fields. */
export function compileExpression(text: string, metrics: readonly string[]): Compiled {
  if (text.trim() === '') return { ok: true, accepts: null };
  try {
    const tree = new Parser(tokensOf(text), new Set([...fieldNames, ...metrics]), [
      ...fieldNames,
      ...metrics,
    ]).parse();
    return { ok: true, accepts: predicateOf(tree) };
  } catch (thrown) {
    if (thrown instanceof ExpressionError) return { ok: false, message: thrown.message, at: thrown.at };
    throw thrown;
  }
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  pattern.lastIndex = 0;
  let end = 0;
  for (let match = pattern.exec(text); match?.groups; match = pattern.exec(text)) {
    end = pattern.lastIndex;
    const [kind, value] = Object.entries(match.groups).find((entry) => entry[1] !== undefined) ?? ['end', ''];
    tokens.push({ kind: kind as Token['kind'], text: value, at: end - value.length });
  }
  const rest = text.slice(end);
  const at = end + rest.length - rest.trimStart().length;
  if (at < text.length) {
    const found = text[at] ?? '';
    const hint =
      found === '=' ? ' Compare with ==.' : found === '"' || found === "'" ? ' Close the quote.' : '';
    throw new ExpressionError(`“${found}” is not understood here.${hint}`, at);
  }
  tokens.push({ kind: 'end', text: '', at: text.length });
  return tokens;
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #known: ReadonlySet<string>;
  readonly #names: readonly string[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], known: ReadonlySet<string>, names: readonly string[]) {
    this.#tokens = tokens;
    this.#known = known;
    this.#names = names;
  }

  parse(): Expression {
    const tree = this.#either();
    const rest = this.#peek();
    if (rest.kind !== 'end')
      throw new ExpressionError(`Join conditions with && or || before “${rest.text}”.`, rest.at);
    return tree;
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? { kind: 'end', text: '', at: 0 };
  }

  #take(symbol: string): boolean {
    if (this.#peek().kind !== 'symbol' || this.#peek().text !== symbol) return false;
    this.#next += 1;
    return true;
  }

  #either(): Expression {
    let left = this.#both();
    while (this.#take('||')) left = { kind: 'or', left, right: this.#both() };
    return left;
  }

  #both(): Expression {
    let left = this.#condition();
    while (this.#take('&&')) left = { kind: 'and', left, right: this.#condition() };
    return left;
  }

  #condition(): Expression {
    this.#depth += 1;
    if (this.#depth > 64) throw new ExpressionError('Too many nested conditions.', this.#peek().at);
    try {
      if (this.#take('!')) return { kind: 'not', inner: this.#condition() };
      if (this.#take('(')) return this.#parenthesised();
      return this.#comparison();
    } finally {
      this.#depth -= 1;
    }
  }

  #parenthesised(): Expression {
    const inner = this.#either();
    if (!this.#take(')')) throw new ExpressionError('A closing parenthesis is missing.', this.#peek().at);
    return inner;
  }

  #comparison(): Expression {
    const left = this.#operand();
    const token = this.#peek();
    if (token.kind !== 'symbol' || !comparisons.has(token.text)) return { kind: 'truthy', operand: left };
    this.#next += 1;
    return { kind: 'compare', operator: token.text as Comparison, left, right: this.#operand() };
  }

  #operand(): Operand {
    const token = this.#peek();
    this.#next += 1;
    switch (token.kind) {
      case 'number':
        return { kind: 'value', value: Number(token.text) };
      case 'string':
        return { kind: 'value', value: token.text.slice(1, -1).replace(/\\(.)/g, '$1') };
      case 'name':
        return this.#named(token);
      case 'end':
        throw new ExpressionError('Something is missing at the end.', token.at);
      case 'symbol':
        throw new ExpressionError(`A name or a value belongs before “${token.text}”.`, token.at);
    }
  }

  #named(token: Token): Operand {
    if (token.text === 'true') return { kind: 'value', value: 1 };
    if (token.text === 'false') return { kind: 'value', value: 0 };
    if (token.text === 'null') return { kind: 'value', value: null };
    const bare = token.text.startsWith('metrics.') ? token.text.slice('metrics.'.length) : token.text;
    if (!this.#known.has(bare)) {
      const near = this.#names.find((name) => isNear(name, bare));
      const hint = near ? ` Did you mean ${near}?` : ` There are ${this.#names.join(', ')}.`;
      throw new ExpressionError(`No column is called ${token.text}.${hint}`, token.at);
    }
    return { kind: 'field', name: token.text };
  }
}

function predicateOf(tree: Expression): (row: EpisodeRow) => boolean {
  switch (tree.kind) {
    case 'and': {
      const [left, right] = [predicateOf(tree.left), predicateOf(tree.right)];
      return (row) => left(row) && right(row);
    }
    case 'or': {
      const [left, right] = [predicateOf(tree.left), predicateOf(tree.right)];
      return (row) => left(row) || right(row);
    }
    case 'not': {
      const inner = predicateOf(tree.inner);
      return (row) => !inner(row);
    }
    case 'truthy': {
      const read = readerOf(tree.operand);
      return (row) => Boolean(read(row));
    }
    case 'compare': {
      const [left, right] = [readerOf(tree.left), readerOf(tree.right)];
      const holds = comparers[tree.operator];
      return (row) => holds(left(row), right(row));
    }
  }
}

const readerOf = (operand: Operand): ((row: EpisodeRow) => CellValue) =>
  operand.kind === 'field' ? accessorOf(operand.name) : () => operand.value;

/** What is not measured equals only null, and is neither more nor less than anything. */
const ordered =
  (holds: (left: number | string, right: number | string) => boolean) =>
  (left: CellValue, right: CellValue): boolean =>
    left !== null && right !== null && typeof left === typeof right && holds(left, right);

const comparers: Readonly<Record<Comparison, (left: CellValue, right: CellValue) => boolean>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': ordered((left, right) => left < right),
  '<=': ordered((left, right) => left <= right),
  '>': ordered((left, right) => left > right),
  '>=': ordered((left, right) => left >= right),
};

/** One edit apart, or one begins with the other. */
function isNear(name: string, typed: string): boolean {
  if (typed.length >= 3 && (name.startsWith(typed) || typed.startsWith(name))) return true;
  if (Math.abs(name.length - typed.length) > 1) return false;
  let at = 0;
  while (at < name.length && name[at] === typed[at]) at += 1;
  const rests = [
    [name.slice(at + 1), typed.slice(at + 1)],
    [name.slice(at + 1), typed.slice(at)],
    [name.slice(at), typed.slice(at + 1)],
  ];
  return rests.some(([left, right]) => left === right);
}
