// Viewers are sinks: what reaches them goes to whoever watches the run, and they never hold it up. How a value is
// drawn, and whether earlier ones are kept, is the interface's business.
import type { NodeManifest } from '../../contract/nodeset.ts';
import type { NodeHandler } from '../ports.ts';
import { field, inputPort, manifest } from './manifest.ts';

export const viewerManifests: readonly NodeManifest[] = [
  manifest({
    nodeType: 'imageViewer',
    displayName: 'Image viewer',
    description: 'Images and depth maps in a grid',
    kind: 'viewer',
    inputPorts: [inputPort('rgb', 'IMAGE')],
    defaultConfig: { rows: 1, cols: 1, ports: [{ name: 'rgb', wire_type: 'IMAGE' }] },
    configFields: [
      field('slider', 'rows', { min: 1, max: 4, step: 1 }),
      field('slider', 'cols', { min: 1, max: 4, step: 1 }),
      field('port_list', 'ports'),
    ],
    displayFields: [{ kind: 'image_grid', port: '', label: '' }],
  }),
  manifest({
    nodeType: 'textViewer',
    displayName: 'Text viewer',
    description: 'The latest text',
    kind: 'viewer',
    inputPorts: [inputPort('text', 'TEXT')],
    displayFields: [{ kind: 'text_viewer', port: 'text', label: 'Content' }],
  }),
  manifest({
    nodeType: 'textScroll',
    displayName: 'Scrolling text',
    description: 'Every text so far, newest last',
    kind: 'viewer',
    inputPorts: [inputPort('text', 'TEXT')],
    displayFields: [{ kind: 'text_viewer', port: 'text', label: 'History', accumulate: true }],
  }),
  manifest({
    nodeType: 'actionLog',
    displayName: 'Action log',
    description: 'Actions with their step',
    kind: 'viewer',
    inputPorts: [inputPort('action', 'ANY')],
    displayFields: [{ kind: 'log_list', port: 'action', label: 'Actions', accumulate: true }],
  }),
  manifest({
    nodeType: 'metrics',
    displayName: 'Metrics',
    description: 'A table of metrics',
    kind: 'viewer',
    inputPorts: [inputPort('metrics', 'ANY')],
    displayFields: [{ kind: 'metric_table', port: 'metrics', label: 'Metrics' }],
  }),
  manifest({
    nodeType: 'trajectoryViewer',
    displayName: 'Trajectory viewer',
    description: 'The path seen from above, estimated and true',
    kind: 'viewer',
    inputPorts: [inputPort('pose', 'POSE'), inputPort('gt_pose', 'ANY'), inputPort('map_handle', 'TEXT')],
    defaultConfig: { axes: 'auto', align: 'on', max_points: '5000' },
    configFields: [
      field('select', 'axes', { options: ['auto', 'XZ', 'XY', 'YZ'] }),
      field('select', 'align', { options: ['on', 'off'] }),
      field('text', 'max_points', { label: 'Max map points' }),
    ],
    displayFields: [{ kind: 'trajectory', port: 'pose', label: '', accumulate: true }],
  }),
  manifest({
    nodeType: 'pointCloudViewer',
    displayName: 'Point cloud viewer',
    description: 'A point cloud in three dimensions',
    kind: 'viewer',
    inputPorts: [inputPort('cloud', 'ANY'), inputPort('camera_poses', 'ANY')],
    defaultConfig: { max_points: '30000', point_size: '1.5' },
    configFields: [field('text', 'max_points'), field('text', 'point_size')],
    displayFields: [{ kind: 'point_cloud', port: 'cloud', label: '' }],
  }),
];

export const viewerTypes: ReadonlySet<string> = new Set(viewerManifests.map((viewer) => viewer.nodeType));

export const sink: NodeHandler = { forward: () => ({}) };
