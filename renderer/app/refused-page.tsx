// What stands instead of the app when the host does not know this browser.
import { EmptyState } from '../ui/page.tsx';

export function RefusedPage() {
  return (
    <main className="refused">
      <EmptyState
        title="This window is not signed in"
        actions={
          <button type="button" className="button primary" onClick={() => location.reload()}>
            Try again
          </button>
        }
      >
        <p>
          Open the complete address that AgentCanvas printed in the terminal, with everything behind
          “#token=”. It is valid until AgentCanvas stops; a new start prints a new one.
        </p>
      </EmptyState>
    </main>
  );
}
