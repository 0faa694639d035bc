// One condition of the filter as text. Pure.

export type ConditionOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | '~' | 'missing';

/** Columns whose values are text even when they look like numbers. */
const textColumns: ReadonlySet<string> = new Set([
  'episode',
  'scene',
  'instruction',
  'status',
  'limit',
  'error',
  'message',
]);

export function conditionText(column: string, operator: ConditionOperator, value: string): string {
  if (operator === 'missing') return `${column} == null`;
  const trimmed = value.trim();
  const isNumber = !textColumns.has(column) && trimmed !== '' && !Number.isNaN(Number(trimmed));
  return `${column} ${operator} ${isNumber ? String(Number(trimmed)) : quoted(trimmed)}`;
}

/** Texts have no escapes: one with both kinds of quotes loses the double ones. */
function quoted(text: string): string {
  if (!text.includes('"')) return `"${text}"`;
  return text.includes("'") ? `"${text.replaceAll('"', '')}"` : `'${text}'`;
}

/** Both must hold; what was there keeps its meaning. */
export function withCondition(filter: string, condition: string): string {
  const before = filter.trim();
  if (before === '') return condition;
  return before.includes('||') ? `(${before}) && ${condition}` : `${before} && ${condition}`;
}

/** The whole filter of the table as one expression, for requests and exports. */
export function fullFilter(filter: string, statuses: readonly string[]): string {
  if (statuses.length === 0) return filter;
  const choice = statuses.map((status) => `status == ${JSON.stringify(status)}`).join(' || ');
  return withCondition(filter, statuses.length > 1 ? `(${choice})` : choice);
}
