// The filter expression of the episode table: `success == 0 && steps > 400`. The engine's grammar, parsed here to a
// predicate over rows; nothing is ever evaluated as code. A comparison with what was not measured is false;
// `spl == null` finds those. The few names that are ours (duration in seconds, scene …) are printed in the engine's.
//
//   or := and ("||" and)*    and := not ("&&" not)*    not := "!" not | "(" or ")" | comparison
//   comparison := name [("==" | "!=" | "<" | "<=" | ">" | ">=" | "~") literal]     "~": contains, ignoring case
//   literal := number | inf | -inf | true | false | null | "text" | 'text' | bareword
import type { EpisodeRow } from '#contract/run.ts';
import { tokensOf, ExpressionError, type Token } from './expression-tokens.ts';
import { filterField, filterNames, type FilterField } from './filter-fields.ts';
import type { CellValue } from './row-columns.ts';

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=' | '~';
export type Expression =
  | { readonly kind: 'and' | 'or'; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'not'; readonly inner: Expression }
  | { readonly kind: 'truthy'; readonly field: FilterField }
  | {
      readonly kind: 'compare';
      readonly field: FilterField;
      readonly operator: Comparison;
      readonly literal: CellValue;
    };

export type Compiled =
  | {
      readonly ok: true;
      /** Null accepts everything. */
      readonly accepts: ((row: EpisodeRow) => boolean) | null;
      /** The same in the engine's names, for requests. */
      readonly engineText: string;
    }
  | { readonly ok: false; readonly message: string; readonly at: number };

const deepestNesting = 50;

/** An empty text accepts every row. `metrics` are the names an expression may use beside the row's fields. */
export function compileExpression(text: string, metrics: readonly string[]): Compiled {
  if (text.trim() === '') return { ok: true, accepts: null, engineText: '' };
  try {
    const tree = new Parser(tokensOf(text), metrics).parse();
    return { ok: true, accepts: predicateOf(tree), engineText: printExpression(tree) };
  } catch (thrown) {
    if (thrown instanceof ExpressionError) return { ok: false, message: thrown.message, at: thrown.at };
    throw thrown;
  }
}

const comparisons: Readonly<Record<string, Comparison>> = {
  '==': '==',
  '=': '==',
  '!=': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
  '~': '~',
};

class Parser {
  readonly #tokens: readonly Token[];
  readonly #metrics: readonly string[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], metrics: readonly string[]) {
    this.#tokens = tokens;
    this.#metrics = metrics;
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
    if (this.#depth > deepestNesting)
      throw new ExpressionError('Too many nested conditions.', this.#peek().at);
    const tree = this.#inner();
    this.#depth -= 1;
    return tree;
  }

  #inner(): Expression {
    if (this.#take('!')) return { kind: 'not', inner: this.#condition() };
    if (!this.#take('(')) return this.#comparison();
    const tree = this.#either();
    if (!this.#take(')')) throw new ExpressionError('A closing parenthesis is missing.', this.#peek().at);
    return tree;
  }

  #comparison(): Expression {
    const name = this.#peek();
    if (name.kind !== 'name') throw new ExpressionError(missingName(name), name.at);
    this.#next += 1;
    const field = filterField(name.text, this.#metrics);
    if (!field) throw new ExpressionError(unknownName(name.text, this.#metrics), name.at);
    const operator = this.#peek().kind === 'symbol' ? comparisons[this.#peek().text] : undefined;
    if (!operator) return { kind: 'truthy', field };
    const at = this.#peek().at;
    this.#next += 1;
    const literal = this.#literal();
    if (literal === null && operator !== '==' && operator !== '!=')
      throw new ExpressionError('null is compared only by == and !=.', at);
    return { kind: 'compare', field, operator, literal };
  }

  #literal(): CellValue {
    const token = this.#peek();
    this.#next += 1;
    if (token.kind === 'text') return token.text;
    if (token.kind === 'number') return Number(token.text.replace(/inf$/, 'Infinity'));
    if (token.kind === 'name') return wordOf(token.text);
    throw new ExpressionError(
      token.kind === 'end' ? 'A value is missing at the end.' : `A value belongs here, not “${token.text}”.`,
      token.at,
    );
  }
}

function wordOf(word: string): CellValue {
  if (word === 'null') return null;
  if (word === 'true' || word === 'false') return word === 'true' ? 1 : 0;
  return word === 'inf' ? Infinity : word;
}

function missingName(token: Token): string {
  if (token.kind === 'end') return 'A condition is missing at the end.';
  return `A condition begins with a column, not “${token.text}”.`;
}

function unknownName(typed: string, metrics: readonly string[]): string {
  const names = filterNames(metrics);
  const near = names.find((name) => isNear(name, typed));
  return `No column is called ${typed}. ${near ? `Did you mean ${near}?` : `There are ${names.join(', ')}.`}`;
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
      const { read } = tree.field;
      return (row) => Boolean(measured(read(row)));
    }
    case 'compare': {
      const { read } = tree.field;
      const holds = testOf(tree.operator, tree.literal);
      return (row) => holds(measured(read(row)));
    }
  }
}

/** NaN is no measurement: the engine's index keeps none. */
const measured = (value: CellValue): CellValue =>
  typeof value === 'number' && Number.isNaN(value) ? null : value;

function testOf(operator: Comparison, literal: CellValue): (value: CellValue) => boolean {
  if (literal === null) return operator === '==' ? (value) => value === null : (value) => value !== null;
  if (operator === '~') {
    const part = String(literal).toLowerCase();
    return (value) => value !== null && String(value).toLowerCase().includes(part);
  }
  return (value) => {
    if (value === null) return false;
    const other = alike(literal, value);
    return other !== null && holds(operator, value, other);
  };
}

/** The literal in the kind of the column: a number beside text is text, text that is a number beside one is one. */
function alike(literal: number | string, value: number | string): number | string | null {
  if (typeof literal === typeof value) return literal;
  if (typeof value === 'string') return String(literal);
  return literal !== '' && !Number.isNaN(Number(literal)) ? Number(literal) : null;
}

function holds(operator: Exclude<Comparison, '~'>, left: number | string, right: number | string): boolean {
  switch (operator) {
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
  }
}

/** The tree as the engine reads it. */
export function printExpression(tree: Expression): string {
  switch (tree.kind) {
    case 'and':
      return `(${printExpression(tree.left)} && ${printExpression(tree.right)})`;
    case 'or':
      return `(${printExpression(tree.left)} || ${printExpression(tree.right)})`;
    case 'not':
      return `!(${printExpression(tree.inner)})`;
    case 'truthy':
      return tree.field.engineName;
    case 'compare': {
      const { engineName, engineFactor } = tree.field;
      const literal = typeof tree.literal === 'number' ? tree.literal * engineFactor : tree.literal;
      return `${engineName} ${tree.operator} ${printLiteral(literal)}`;
    }
  }
}

/** Texts have no escapes: one with both quotes cannot have come from an expression. */
function printLiteral(literal: CellValue): string {
  if (literal === null) return 'null';
  if (literal === Infinity || literal === -Infinity) return literal > 0 ? 'inf' : '-inf';
  if (typeof literal === 'number') return String(literal);
  return literal.includes('"') ? `'${literal}'` : `"${literal}"`;
}

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
