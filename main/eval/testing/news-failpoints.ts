// Named points where nothing can be waited for: the index of runs and the news of a run.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EventMap } from '../../contract/api.ts';
import { openDatabase, type OpenDatabase } from '../../store/index-database.ts';
import type { EventSink } from '../ports.ts';
import type { Failpoints } from './failpoints.ts';

/** As SQLite tells a failing disk. */
const databaseError = (): Error =>
  Object.assign(new Error('failpoint'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });
const listenerError = (): Error => new Error('failpoint');

/** What writes the row of an attempt; planned ones are inserted without the metrics. */
const attemptSql = /^INSERT INTO episodes /;

/** Around the index: the row of an attempt. */
export function failpointDatabase(points: Failpoints): OpenDatabase {
  return (path) => {
    const opened = openDatabase(path);
    return { ...opened, database: failpointConnection(opened.database, points) };
  };
}

function failpointConnection(inner: DatabaseSync, points: Failpoints): DatabaseSync {
  return withMethods(inner, {
    prepare(sql: string): StatementSync {
      const statement = inner.prepare(sql);
      if (!attemptSql.test(sql)) return statement;
      return withMethods(statement, {
        run(...values: Parameters<StatementSync['run']>) {
          points.passNow('index.update', databaseError);
          const result = statement.run(...values);
          points.passNow('index.updated', databaseError);
          return result;
        },
      });
    },
  });
}

/** Classes of the runtime want themselves as `this`. */
function withMethods<Target extends object>(inner: Target, methods: object): Target {
  return new Proxy(inner, {
    get(target, key) {
      if (Object.hasOwn(methods, key)) return Reflect.get(methods, key);
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Around the news: an episode that began, and the result of an attempt. */
export function failpointEvents(inner: EventSink, points: Failpoints): EventSink {
  return {
    publish(name, payload) {
      if (name !== 'run.episodes') return inner.publish(name, payload);
      const { rows } = payload as EventMap['run.episodes'];
      const isBeginning = rows.every(({ status }) => status === 'running');
      points.passNow(isBeginning ? 'feed.begin' : 'feed.tell', listenerError);
      inner.publish(name, payload);
      if (!isBeginning) points.passNow('feed.told', listenerError);
    },
  };
}
