import GRDB
import TransferCore
import TransferEventLoop
import TransferJobs
package import TransferStore

/// The news of a run, for other processes that read the queue.
package struct RunStatusTable: Sendable {
    package let database: QueueDatabase
    package let hostWaits: HostWaits
    package let pauses: Pauses
    package let links: LinkReports

    package init(_ database: QueueDatabase, _ pauses: Pauses, _ links: LinkReports) {
        self.database = database
        hostWaits = HostWaits(database: database)
        self.pauses = pauses
        self.links = links
    }

    package func publish(_ news: RunNotification) throws {
        switch news {
        case .progress(let progress): try publish(progress)
        case .hostWaits(let waits): try hostWaits.save(waits)
        case .networkWaits(let waits): try links.save(networkWaits: waits)
        case .silentLinks(let silent): try links.save(silentLinks: silent)
        case .usage(let rows): try links.save(rows)
        case .pause(let pause): try pauses.save(pause)
        case .noPauses: try pauses.forgetAll()
        case .socket(let path):
            try database.writeRelaxed(leavesPacks: true) { db in
                try db.execute(sql: "UPDATE process SET socket = ? WHERE id = ?", arguments: [path, database.process])
            }
        }
    }

    /// Writes the numbers of a running batch to where `transfer status` finds them.
    private func publish(_ reported: RunProgress) throws {
        let numbers = RunningJobsText.text(underWay: reported.underWay, bytes: reported.bytes)
        try database.writeRelaxed(leavesPacks: true) { db in
            try db.execute(
                sql: """
                    UPDATE batch SET toldJobs = ?, toldDone = ?, rate = ?, eta = ?, active = ?, underWay = ?, waitingFor = ?,
                        updated = ? WHERE id = ?
                    """,
                arguments: [
                    reported.totals.jobs, reported.totals.kept + reported.totals.completed, reported.rate, reported.eta,
                    reported.active,
                    numbers, reported.waitingFor, WallClock.milliseconds, reported.batch,
                ])
            try db.cachedStatement(sql: "DELETE FROM runningSources WHERE batch = ?").execute(arguments: [
                reported.batch
            ])
            for (job, sources) in reported.sources {
                guard let text = sources.text else { continue }
                try db.cachedStatement(
                    sql: "INSERT OR REPLACE INTO runningSources (job, batch, sources) VALUES (?, ?, ?)"
                ).execute(arguments: [job, reported.batch, text])
            }
        }
    }
}
