// Which fields a node's config has: those its type declares, those its schema names besides, and what the file holds
// that nobody declares. Every field knows its kind, so that the panel only draws.
import type { GraphNode } from '#contract/graph.ts';
import { configField, type ConfigField, type NodeManifest } from '#contract/nodeset.ts';
import { isRecord } from '#contract/pivots.ts';

export interface ShownField {
  readonly kind: ConfigField['kind'] | 'json';
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly options: readonly { readonly value: unknown; readonly label: string }[];
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly step: number | undefined;
  readonly value: unknown;
  /** What holds while the file says nothing. */
  readonly fallback: unknown;
  /** True when the file itself sets it. */
  readonly isSet: boolean;
}

/** Set by drawing, not by typing. */
const drawn: ReadonlySet<string> = new Set(['hooks']);

export function fieldsOf(node: GraphNode, manifest: NodeManifest | undefined): ShownField[] {
  const declared = manifest?.uiConfig.configFields ?? [];
  const names = new Set(declared.map(({ name }) => name));
  const schema = schemaFields(manifest).filter(({ name }) => !names.has(name));
  for (const { name } of schema) names.add(name);
  const rest = [...new Set([...Object.keys(manifest?.defaultConfig ?? {}), ...Object.keys(node.config)])]
    .filter((name) => !names.has(name) && !drawn.has(name))
    .map((name) => guessedField(name, node.config[name] ?? manifest?.defaultConfig[name]));
  return [...declared, ...schema, ...rest].map((field) => shown(field, node, manifest));
}

type AnyField = Pick<ConfigField, 'name' | 'label' | 'description' | 'options' | 'min' | 'max' | 'step'> & {
  readonly kind: ConfigField['kind'] | 'json';
};

function shown(field: AnyField, node: GraphNode, manifest: NodeManifest | undefined): ShownField {
  const fallback = manifest?.defaultConfig[field.name];
  const isSet = Object.hasOwn(node.config, field.name);
  const value = isSet ? node.config[field.name] : fallback;
  return {
    kind: fits(field.kind, value) ? field.kind : 'json',
    name: field.name,
    label: field.label || words(field.name),
    description: field.description,
    options: (field.options ?? []).map((option) =>
      typeof option === 'string' ? { value: option, label: option || '(empty)' } : option,
    ),
    min: field.min,
    max: field.max,
    step: field.step,
    value,
    fallback,
    isSet,
  };
}

/** A value the declared field cannot show is edited as what it is. */
function fits(kind: AnyField['kind'], value: unknown): boolean {
  if (value === undefined || value === null) return true;
  switch (kind) {
    case 'text':
    case 'textarea':
    case 'number':
    case 'slider':
    case 'select':
      return typeof value !== 'object';
    case 'toggle':
      return typeof value === 'boolean';
    case 'port_list':
      return Array.isArray(value) && value.every(isRecord);
    case 'label':
    case 'json':
      return true;
  }
}

function schemaFields(manifest: NodeManifest | undefined): AnyField[] {
  const schema = manifest?.configSchema ?? {};
  const properties = isRecord(schema['properties']) ? schema['properties'] : schema;
  return Object.entries(properties).flatMap(([name, property]) => {
    if (!isRecord(property)) return [];
    const parsed = configField.safeParse({ ...fieldOfSchema(name, property) });
    return parsed.success ? [parsed.data] : [];
  });
}

function fieldOfSchema(name: string, property: Readonly<Record<string, unknown>>): object {
  const about = {
    name,
    ...(typeof property.title === 'string' && { label: property.title }),
    ...(typeof property.description === 'string' && { description: property.description }),
    ...(typeof property.minimum === 'number' && { min: property.minimum }),
    ...(typeof property.maximum === 'number' && { max: property.maximum }),
  };
  if (Array.isArray(property.enum)) return { ...about, kind: 'select', options: property.enum.map(String) };
  if (property.type === 'boolean') return { ...about, kind: 'toggle' };
  if (property.type === 'integer') return { ...about, kind: 'number', step: 1 };
  if (property.type === 'number') return { ...about, kind: 'number' };
  return { ...about, kind: 'text' };
}

function guessedField(name: string, value: unknown): AnyField {
  const kind =
    typeof value === 'boolean'
      ? 'toggle'
      : typeof value === 'number'
        ? 'number'
        : typeof value === 'string'
          ? value.includes('\n')
            ? 'textarea'
            : 'text'
          : 'json';
  return { kind, name, label: '', description: '' };
}

function words(name: string): string {
  const spaced = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
