// The expression filter of tables: `success == 0 && (steps > 400 || status == "timeout") && !retried`. Parsed here
// to SQL with bound parameters; no text of the user ever becomes SQL. A comparison with a value that was not
// measured is false; `x == null` finds those.
//
//   or := and ("||" and)*    and := not ("&&" not)*    not := "!" not | "(" or ")" | comparison
//   comparison := name [("==" | "!=" | "<" | "<=" | ">" | ">=" | "~") literal]     "~": contains, ignoring case
//   literal := number | inf | -inf | true | false | null | "text" | 'text' | bareword
import { StudioError } from '../base/errors.ts';

export type SqlValue = string | number;

export interface SqlCondition {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
}

/** The SQL of a column; undefined when there is none of that name. Must not depend on anything but known names. */
export type ResolveColumn = (name: string) => string | undefined;

export interface FilterColumns {
  readonly resolve: ResolveColumn;
  /** For the message about an unknown name. */
  readonly names: readonly string[];
}

const longestExpression = 2000;
const deepestNesting = 50;

interface Token {
  readonly kind: 'name' | 'number' | 'text' | 'operator' | 'end';
  readonly text: string;
  readonly at: number;
}

const tokenPattern =
  /\s*(?:(?<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf\b)|(?<name>[A-Za-z_][\w.]*)|"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<operator>\|\||&&|==|!=|<=|>=|[<>~!()=]))/y;

/** `invalid_input` with the position when it cannot be understood. Empty text matches everything. */
export function parseFilter(expression: string, columns: FilterColumns): SqlCondition {
  if (expression.trim() === '') return { sql: '1', parameters: [] };
  if (expression.length > longestExpression) {
    throw new StudioError('invalid_input', `the filter is longer than ${longestExpression} characters`);
  }
  const parser = new FilterParser(tokenise(expression), columns);
  return parser.parse();
}

function tokenise(expression: string): Token[] {
  const tokens: Token[] = [];
  const pattern = new RegExp(tokenPattern);
  for (let at = 0; expression.slice(at).trim() !== ''; at = pattern.lastIndex) {
    pattern.lastIndex = at;
    const groups = pattern.exec(expression)?.groups;
    if (!groups) throw syntaxError(`does not understand "${expression.slice(at).trim().slice(0, 20)}"`, at);
    const text = groups['double'] ?? groups['single'];
    if (text !== undefined) tokens.push({ kind: 'text', text, at });
    else if (groups['number'] !== undefined) tokens.push({ kind: 'number', text: groups['number'], at });
    else if (groups['name'] !== undefined) tokens.push({ kind: 'name', text: groups['name'], at });
    else tokens.push({ kind: 'operator', text: groups['operator'] ?? '', at });
  }
  return [...tokens, { kind: 'end', text: 'the end', at: expression.length }];
}

function syntaxError(message: string, at: number): StudioError {
  return new StudioError(
    'invalid_input',
    `The filter ${message} at position ${at + 1}. Write for example: success == 0 && steps > 400`,
  );
}

const sqlOperators: Readonly<Record<string, string>> = {
  '==': '=',
  '=': '=',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

class FilterParser {
  readonly #tokens: readonly Token[];
  readonly #columns: FilterColumns;
  readonly #parameters: SqlValue[] = [];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], columns: FilterColumns) {
    this.#tokens = tokens;
    this.#columns = columns;
  }

  parse(): SqlCondition {
    const sql = this.#or();
    const rest = this.#peek();
    if (rest.kind !== 'end') throw syntaxError(`does not expect "${rest.text}"`, rest.at);
    return { sql, parameters: this.#parameters };
  }

  #or(): string {
    const terms = [this.#and()];
    while (this.#accept('||')) terms.push(this.#and());
    return terms.length === 1 ? (terms[0] ?? '') : `(${terms.join(' OR ')})`;
  }

  #and(): string {
    const terms = [this.#not()];
    while (this.#accept('&&')) terms.push(this.#not());
    return terms.length === 1 ? (terms[0] ?? '') : `(${terms.join(' AND ')})`;
  }

  #not(): string {
    if (++this.#depth > deepestNesting) throw syntaxError('is nested too deeply', this.#peek().at);
    let sql: string;
    if (this.#accept('!')) sql = `(NOT coalesce(${this.#not()}, 0))`;
    else if (this.#accept('(')) {
      sql = this.#or();
      if (!this.#accept(')')) throw syntaxError(`expects ")", not "${this.#peek().text}"`, this.#peek().at);
    } else sql = this.#comparison();
    this.#depth--;
    return sql;
  }

  #comparison(): string {
    const name = this.#take();
    if (name.kind !== 'name') throw syntaxError(`expects a column, not "${name.text}"`, name.at);
    const column = this.#columns.resolve(name.text);
    if (column === undefined) {
      const known = this.#columns.names.join(', ');
      throw new StudioError(
        'invalid_input',
        `There is no column "${name.text}" to filter by. Known: ${known}`,
      );
    }
    const operator = this.#peek();
    if (operator.kind !== 'operator') return `(${column} <> 0)`;
    if (operator.text === '~') {
      this.#take();
      this.#parameters.push(likePattern(String(this.#literal())));
      return `(${column} LIKE ? ESCAPE '\\')`;
    }
    const sqlOperator = sqlOperators[operator.text];
    if (sqlOperator === undefined) return `(${column} <> 0)`;
    this.#take();
    const literal = this.#literal();
    if (literal === null) return this.#nullTest(column, sqlOperator, operator);
    this.#parameters.push(literal);
    return `(${column} ${sqlOperator} ?)`;
  }

  #nullTest(column: string, operator: string, token: Token): string {
    if (operator === '=') return `(${column} IS NULL)`;
    if (operator === '<>') return `(${column} IS NOT NULL)`;
    throw syntaxError('compares null only by == and !=', token.at);
  }

  #literal(): SqlValue | null {
    const token = this.#take();
    if (token.kind === 'text') return token.text;
    if (token.kind === 'number') return parseNumber(token.text);
    if (token.kind !== 'name') throw syntaxError(`expects a value, not "${token.text}"`, token.at);
    if (token.text === 'null') return null;
    if (token.text === 'true' || token.text === 'false') return token.text === 'true' ? 1 : 0;
    return token.text === 'inf' ? Infinity : token.text;
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? { kind: 'end', text: 'the end', at: 0 };
  }

  #take(): Token {
    const token = this.#peek();
    this.#next++;
    return token;
  }

  #accept(operator: string): boolean {
    const token = this.#peek();
    if (token.kind !== 'operator' || token.text !== operator) return false;
    this.#next++;
    return true;
  }
}

function parseNumber(text: string): number {
  return text.endsWith('inf') ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text);
}

/** For LIKE with `\` as escape. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
}
