// Short forms for writing the manifests of built-in nodes.
import {
  nodeManifest,
  type ConfigField,
  type NodeManifest,
  type PortDefinition,
} from '../../contract/nodeset.ts';

export interface BuiltinSpec {
  readonly nodeType: string;
  readonly displayName: string;
  readonly description: string;
  readonly kind: string;
  readonly category?: string;
  readonly inputPorts?: PortDefinition[];
  readonly outputPorts?: PortDefinition[];
  readonly defaultConfig?: Record<string, unknown>;
  readonly configFields?: ConfigField[];
  readonly displayFields?: { kind: string; port: string; label: string; accumulate?: boolean }[];
}

export function manifest(spec: BuiltinSpec): NodeManifest {
  const { configFields = [], displayFields = [], ...rest } = spec;
  return nodeManifest.parse({ category: rest.kind, ...rest, uiConfig: { configFields, displayFields } });
}

/** An optional input. */
export function inputPort(name: string, wireType: string, description = ''): PortDefinition {
  return { name, wireType, description, optional: true };
}

export function requiredPort(name: string, wireType: string, description = ''): PortDefinition {
  return { name, wireType, description, optional: false };
}

export const outputPort = requiredPort;

export function field(
  kind: ConfigField['kind'],
  name: string,
  more: Partial<Pick<ConfigField, 'label' | 'description' | 'options' | 'min' | 'max' | 'step'>> = {},
): ConfigField {
  return { kind, name, label: '', description: '', ...more };
}
