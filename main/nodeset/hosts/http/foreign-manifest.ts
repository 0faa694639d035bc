// The manifest of a server that is not ours, in the form of the app's own: AgentCanvas says `functions` for nodes and
// names some members of config and display fields differently.
import { nodeTypeOf } from '../../manifest.ts';

type Members = Readonly<Record<string, unknown>>;

/** Node types begin with `name`, under which the nodeset is known here. */
export function foreignManifest(stated: Members, name: string, hasPanel: boolean): unknown {
  const own = textOf(stated['name']);
  const nodes = listOf(stated['nodes'] ?? stated['functions']).map((entry) => {
    const serverType = textOf(entry['node_type'] ?? entry['name']);
    const type = serverType.startsWith(`${own}__`)
      ? nodeTypeOf(name, serverType.slice(own.length + 2))
      : serverType;
    return {
      ...entry,
      node_type: type,
      display_name: entry['display_name'] ?? serverType,
      ui_config: uiOf(entry['ui_config']),
    };
  });
  return { ...stated, name, nodes, language: 'python', has_env_panel: hasPanel };
}

const fieldKinds = ['label', 'slider', 'text', 'select', 'toggle', 'textarea', 'number', 'port_list'];

function uiOf(ui: unknown): unknown {
  const { config_fields: configFields, display_fields: displayFields } = isRecord(ui) ? ui : {};
  return {
    config_fields: listOf(configFields).map((field) => {
      const kind = field['kind'] ?? field['field_type'];
      return { ...field, kind: fieldKinds.includes(textOf(kind)) ? kind : 'text' };
    }),
    display_fields: listOf(displayFields).map((field) => ({
      ...field,
      kind: textOf(field['kind'] ?? field['display_type'], 'text'),
      port: textOf(field['port'] ?? field['data_key'] ?? field['name']),
    })),
  };
}

/** Objects of a list; members that are null are left out, as the app's own host does. */
function listOf(list: unknown): readonly Members[] {
  return (Array.isArray(list) ? list : [])
    .filter(isRecord)
    .map((entry) => Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null)));
}

/** Texts and numbers as text; anything else is `absent`. */
export function textOf(value: unknown, absent = ''): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : absent;
}

function isRecord(value: unknown): value is Members {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
