// How the run was made: configuration, the command that repeats it, provenance, folder.
import { commandLineOf, shellLine } from '#contract/command-line.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatBytes, formatDate, formatDuration } from '../../ui/format.ts';
import type { LoadedState } from './run-page.tsx';
import { CommandText, TextBlock } from '../../ui/text-block.tsx';

export function ConfigurationView({ state }: { readonly state: LoadedState }) {
  const { record, folder } = state;
  const command = shellLine(['agentcanvas', 'eval', ...commandLineOf(record.config)]);
  const { provenance } = record;
  return (
    <div className="configuration">
      <section className="stack" aria-label="The run">
        <h2>Run</h2>
        <dl className="facts">
          <Fact name="Id" value={record.runId} />
          <Fact name="Folder" value={folder ?? '–'} />
          <Fact name="Graph" value={record.graphPath} />
          <Fact name="Created" value={formatDate(record.createdAt)} />
          <Fact name="Finished" value={formatDate(record.finishedAt)} />
          <Fact name="Working time" value={formatDuration(record.activeMs)} />
          <Fact
            name="Step budget"
            value={record.stepBudget === null ? 'none' : `${record.stepBudget} steps`}
          />
          <Fact name="Per-step budget" value={`${record.perStepBudgetSec} s`} />
          <Fact name="Tags" value={record.tags.join(', ') || '–'} />
          <Fact name="Note" value={record.note || '–'} />
        </dl>
        <div className="row spread">
          <h2>Command</h2>
          <CopyButton text={command} label="Copy command" />
        </div>
        <TextBlock label="Command">
          <CommandText command={command} />
        </TextBlock>
        <div className="row spread">
          <h2>Configuration</h2>
          <CopyButton text={JSON.stringify(record.config, null, 2)} label="Copy configuration" />
        </div>
        <TextBlock label="Configuration" className="log tall">
          {JSON.stringify(record.config, null, 2)}
        </TextBlock>
      </section>
      <section className="stack" aria-label="Provenance">
        <div className="row spread">
          <h2>Provenance</h2>
          <CopyButton text={JSON.stringify(provenance, null, 2)} label="Copy provenance" />
        </div>
        <dl className="facts">
          <Fact name="AgentCanvas" value={provenance.appVersion} />
          <Fact name="Git commit" value={provenance.gitCommit ?? 'not in a repository'} />
          <Fact name="Graph hash" value={provenance.graphHash} />
          {provenance.nodesets.map((nodeset) => (
            <Fact key={nodeset.name} name={nodeset.name} value={nodeset.sourceHash} />
          ))}
          {provenance.models.map((model) => (
            <Fact key={model.path} name={model.path} value={model.hash} />
          ))}
          {provenance.interpreters.map((interpreter) => (
            <Fact key={interpreter.path} name={interpreter.path} value={interpreter.version} />
          ))}
          <Fact name="Machine" value={`${provenance.host}, ${provenance.os}`} />
          <Fact name="Processor" value={`${provenance.cpu}, ${provenance.cores} cores`} />
          <Fact name="Memory" value={formatBytes(provenance.memoryBytes)} />
          <Fact name="GPU" value={provenance.gpu ?? 'none'} />
        </dl>
        <details>
          <summary>Raw record</summary>
          <TextBlock label="Raw record" className="log tall">
            {JSON.stringify(record, null, 2)}
          </TextBlock>
        </details>
      </section>
    </div>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}
