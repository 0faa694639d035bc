// Columns of the Nodesets page.
import type { NodesetSummary } from '#contract/nodeset.ts';
import { formatBytes } from '../../ui/format.ts';
import type { GridColumn } from '../../ui/grid-types.ts';
import { Status } from '../../ui/status.tsx';
import { memoryOf, modeOf, shortInterpreter, stateOf } from './nodeset-words.ts';

type Column = GridColumn<NodesetSummary>;

function textColumn(
  column: Pick<Column, 'id' | 'header' | 'width' | 'grows' | 'isHiddenAtFirst'>,
  text: Column['text'],
): Column {
  return {
    ...column,
    isSortable: true,
    text,
    cell: (nodeset) => <span className="clip">{text(nodeset)}</span>,
  };
}

export const nodesetColumns: readonly Column[] = [
  textColumn({ id: 'name', header: 'Nodeset', width: 112, grows: true }, ({ name }) => name),
  {
    id: 'state',
    header: 'State',
    width: 172,
    isSortable: true,
    text: (nodeset) => stateOf(nodeset).word,
    cell: (nodeset) => {
      const { glyph, word } = stateOf(nodeset);
      return <Status status={glyph} word={word} />;
    },
  },
  textColumn({ id: 'origin', header: 'From', width: 84, isHiddenAtFirst: true }, ({ origin }) => origin),
  textColumn({ id: 'mode', header: 'Runs', width: 84 }, modeOf),
  textColumn({ id: 'interpreter', header: 'Interpreter', width: 138 }, shortInterpreter),
  {
    id: 'processes',
    header: 'Processes',
    width: 82,
    align: 'end',
    isSortable: true,
    text: ({ processes }) => String(processes.length),
    cell: ({ processes }) => (processes.length === 0 ? <span className="faint">–</span> : processes.length),
  },
  {
    id: 'memory',
    header: 'Memory',
    width: 84,
    align: 'end',
    isSortable: true,
    description: 'Resident memory of its processes',
    text: (nodeset) => formatBytes(memoryOf(nodeset)),
    cell: (nodeset) => formatBytes(memoryOf(nodeset)),
  },
];
