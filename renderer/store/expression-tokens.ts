// Words of a filter expression, with their places for messages.

export interface Token {
  readonly kind: 'name' | 'number' | 'text' | 'symbol' | 'end';
  readonly text: string;
  readonly at: number;
}

export class ExpressionError extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

const pattern =
  /\s*(?:(?<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf\b)|(?<name>[A-Za-z_][\w.]*)|(?<text>"[^"]*"|'[^']*')|(?<symbol>\|\||&&|==|!=|<=|>=|[<>~!()=]))/y;

const kinds = ['number', 'name', 'text', 'symbol'] as const;

export function tokensOf(expression: string): Token[] {
  const tokens: Token[] = [];
  pattern.lastIndex = 0;
  let end = 0;
  for (let match = pattern.exec(expression); match?.groups; match = pattern.exec(expression)) {
    end = pattern.lastIndex;
    const { groups } = match;
    const kind = kinds.find((candidate) => groups[candidate] !== undefined) ?? 'symbol';
    const text = groups[kind] ?? '';
    tokens.push({ kind, text: kind === 'text' ? text.slice(1, -1) : text, at: end - text.length });
  }
  const rest = expression.slice(end);
  const at = end + rest.length - rest.trimStart().length;
  if (at < expression.length) throw new ExpressionError(unreadable(expression[at] ?? ''), at);
  tokens.push({ kind: 'end', text: '', at: expression.length });
  return tokens;
}

function unreadable(sign: string): string {
  const hint = sign === '"' || sign === "'" ? ' Close the quote.' : '';
  return `“${sign}” is not understood here.${hint}`;
}
