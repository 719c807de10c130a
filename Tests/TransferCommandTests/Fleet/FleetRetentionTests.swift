import Foundation
import Testing
import TransferTestSupport

/// `transfer work --keep`: batches that ended long ago leave the queue.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(2))) struct FleetRetentionTests {
    /// Makes the batch and its ends older.
    private func age(_ batch: String, _ fleet: FleetPlace, updated: Int, ended: Int) async throws {
        _ = try await PostgresServer.shared.ask(
            """
            UPDATE \(fleet.schema).batch SET updated = updated - \(updated) * 86400000::bigint WHERE name = '\(batch)';
            UPDATE \(fleet.schema).job SET ended = ended - \(ended) * 86400000::bigint
                FROM \(fleet.schema).batch WHERE job.batch = batch.id AND name = '\(batch)'
            """)
    }

    private func names(_ fleet: FleetPlace) async throws -> Set<String> {
        Set(try await fleet.status().compactMap { $0["batch"]?.string })
    }

    /// Adds a batch of jobs that are cancelled at once, or that no worker can do.
    private func bring(_ name: String, _ count: Int, isOver: Bool, _ fleet: FleetPlace) async throws {
        let jobs = (0..<count).map {
            download("http://192.0.2.1/\($0)", to: "\(name)/\($0)", #""worker": {"tags": ["none"]}"#)
        }
        try fleet.place.jobs(jobs, name: name)
        try await fleet.bring()
        if isOver { #expect(try await fleet.run("cancel", name).exitCode == 0) }
    }

    @Test func onlyBatchesThatEndedLongAgoAreRemoved() async throws {
        let fleet = try await FleetPlace()
        for (name, isOver) in [("old", true), ("fresh", true), ("late", true), ("unfinished", false)] {
            try await bring(name, 2, isOver: isOver, fleet)
        }
        try await age("old", fleet, updated: 40, ended: 40)
        // The batch "late" was added long ago, and its last job ended yesterday.
        try await age("late", fleet, updated: 40, ended: 1)
        try await age("unfinished", fleet, updated: 40, ended: 0)
        let worker = try fleet.worker("a", "--keep", "30d")
        _ = try await worker.line { $0.contains("1 batch that ended more than 30d 00h ago: removed") }
        #expect(try await names(fleet) == ["fresh", "late", "unfinished"])
        // The command for it judges likewise.
        let forgotten = try await fleet.run("forget", "--older-than", "30d")
        #expect(forgotten.exitCode == 0, "\(forgotten)")
        #expect(try await names(fleet) == ["fresh", "late", "unfinished"])
        try await fleet.stop(worker)
    }

    @Test func aLargeBatchIsRemovedInSmallTransactionsByALoginThatOnlyWorks() async throws {
        let database = try await PostgresServer.shared
        let fleet = try await FleetPlace(on: database)
        try await bring("large", 2500, isOver: true, fleet)
        try await age("large", fleet, updated: 40, ended: 40)
        // The rows that each transaction removes.
        _ = try await database.ask(
            """
            CREATE TABLE \(fleet.schema).removed (transaction xid8, jobs bigint);
            CREATE FUNCTION \(fleet.schema).note_removed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
            'BEGIN INSERT INTO \(fleet.schema).removed SELECT pg_current_xact_id(), count(*) FROM gone; RETURN NULL; END';
            CREATE TRIGGER note_removed AFTER DELETE ON \(fleet.schema).job REFERENCING OLD TABLE AS gone
                FOR EACH STATEMENT EXECUTE FUNCTION \(fleet.schema).note_removed()
            """)
        let queue = String(fleet.queue.split(separator: "=").last ?? "")
        let address = database.url(queue: queue, login: try await database.login("work", in: queue))
        _ = try fleet.folder.folder("a")
        let worker = try fleet.command(["work", "--queue", address, "-d", "a", "--keep", "30d"]).start()
        _ = try await worker.line { $0.contains("1 batch that ended more than") }
        let sizes = try await database.ask("SELECT jobs FROM \(fleet.schema).removed ORDER BY transaction")
        #expect(sizes.split(whereSeparator: \.isWhitespace) == ["1000", "1000", "500"], "\(sizes)")
        #expect(try await names(fleet).isEmpty)
        try await fleet.stop(worker)
    }
}
