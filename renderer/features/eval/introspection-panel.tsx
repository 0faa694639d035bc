// What the chosen graph is: environments with splits and metrics, budgets, nodesets and what must still be loaded.
import { ArrowDown, ArrowUp } from 'lucide-react';
import type { MetricDefinition, NodesetSummary } from '#contract/nodeset.ts';
import type { Introspection } from '#contract/requests.ts';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatCount } from '../../ui/format.ts';
import { LoadPanel } from './load-panel.tsx';
import { stepBudgetOf, type Environment } from './selectors.ts';
import type { IntrospectionState } from './use-introspection.ts';

export function IntrospectionPanel({
  state,
}: {
  readonly state: IntrospectionState & { readonly value: Introspection };
}) {
  const { value } = state;
  return (
    <section className="stack" aria-label="What the graph needs">
      {value.diagnostics.length > 0 ? <Diagnostics value={value} /> : null}
      {state.unloaded.length + value.missing.length > 0 || state.isLoading ? (
        <LoadPanel state={state} />
      ) : null}
      {value.environments.map((environment) => (
        <EnvironmentFacts key={environment.nodeset} environment={environment} value={value} />
      ))}
      {value.environments.length + state.unloaded.length + value.missing.length === 0 ? (
        <p className="muted">
          No nodeset of this graph is an environment, so there is nothing to evaluate it on.
        </p>
      ) : null}
    </section>
  );
}

function Diagnostics({ value }: { readonly value: Introspection }) {
  const errors = value.diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  const isBlocked = errors.length > 0;
  return (
    <div className={isBlocked ? 'callout bad' : 'callout warn'} role={isBlocked ? 'alert' : undefined}>
      <div className="body">
        <strong>
          {isBlocked ? 'The graph cannot run as it is.' : 'The graph can run; look at this first.'}
        </strong>
        <ul>
          {value.diagnostics.map((diagnostic) => (
            <li key={`${diagnostic.rule} ${diagnostic.nodePath} ${diagnostic.message}`}>
              {diagnostic.nodePath ? <code>{diagnostic.nodePath}</code> : null} {diagnostic.message}{' '}
              {diagnostic.fix}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function EnvironmentFacts({
  environment,
  value,
}: {
  readonly environment: Environment;
  readonly value: Introspection;
}) {
  const { metadata } = environment;
  if (environment.error)
    return (
      <ErrorCallout
        title={`The environment ${environment.nodeset} did not answer.`}
        error={environment.error}
      />
    );
  const stepBudget = stepBudgetOf(value, environment);
  return (
    <dl className="facts">
      <dt>Environment</dt>
      <dd>
        {metadata?.envName ?? environment.nodeset}
        {metadata && metadata.envName !== environment.nodeset ? (
          <span className="faint"> from {environment.nodeset}</span>
        ) : null}
      </dd>
      {metadata ? (
        <>
          <dt>Splits</dt>
          <dd>
            <Splits environment={environment} />
          </dd>
          <dt>Metrics</dt>
          <dd>
            <Metrics metrics={metadata.metrics} />
          </dd>
          {metadata.actionSpace === undefined ? null : (
            <>
              <dt>Action space</dt>
              <dd>
                <ActionSpace value={metadata.actionSpace} />
              </dd>
            </>
          )}
        </>
      ) : null}
      <dt>Budget</dt>
      <dd>
        {stepBudget === null ? 'No step budget' : `${formatCount(stepBudget)} steps`},{' '}
        {environment.perStepBudgetSec} s per step
      </dd>
      <dt>Batched nodes</dt>
      <dd>{value.batchedNodes.length > 0 ? value.batchedNodes.join(', ') : 'None'}</dd>
      <dt>Nodesets</dt>
      <dd>
        <Nodesets nodesets={value.nodesets} />
      </dd>
    </dl>
  );
}

function Splits({ environment }: { readonly environment: Environment }) {
  const { metadata } = environment;
  if (!metadata || metadata.splits.length === 0) return <span className="faint">No splits</span>;
  return (
    <span>
      {metadata.splits.map((split, at) => {
        const count = metadata.episodeCounts?.[split];
        const size = count === undefined ? '' : count === null ? ' unbounded' : ` ${formatCount(count)}`;
        return (
          <span key={split}>
            {at > 0 ? ' · ' : ''}
            {split}
            <span className="faint">{size}</span>
          </span>
        );
      })}
    </span>
  );
}

function Metrics({ metrics }: { readonly metrics: readonly MetricDefinition[] }) {
  if (metrics.length === 0) return <span className="faint">None declared</span>;
  return (
    <span className="metric-list">
      {metrics.map((metric) => (
        <span key={metric.name} className="metric-name">
          {metric.name}
          {metric.unit ? <span className="faint"> {metric.unit}</span> : null}
          <Direction higherIsBetter={metric.higherIsBetter} />
        </span>
      ))}
    </span>
  );
}

function Direction({ higherIsBetter }: { readonly higherIsBetter: boolean | null }) {
  if (higherIsBetter === null) return null;
  const Arrow = higherIsBetter ? ArrowUp : ArrowDown;
  return (
    <>
      <Arrow size={11} aria-hidden="true" />
      <span className="visually-hidden">{higherIsBetter ? 'higher is better' : 'lower is better'}</span>
    </>
  );
}

function ActionSpace({ value }: { readonly value: unknown }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length <= 90) return <code>{text}</code>;
  return (
    <details>
      <summary>
        <code>{text.slice(0, 80)}…</code> Show all
      </summary>
      <pre className="facts-text">{JSON.stringify(value, null, 2)}</pre>
    </details>
  );
}

function Nodesets({ nodesets }: { readonly nodesets: readonly NodesetSummary[] }) {
  return (
    <span>
      {nodesets.map((nodeset, at) => (
        <span key={nodeset.name} title={nodeset.source}>
          {at > 0 ? ' · ' : ''}
          {nodeset.name}{' '}
          <span className="faint">
            {nodeset.language === 'python'
              ? `Python, ${nodeset.interpreter ?? 'default interpreter'}`
              : 'TypeScript'}
            {nodeset.parallelism ? `, ${nodeset.parallelism}` : ''}
          </span>
        </span>
      ))}
    </span>
  );
}
