import Foundation
import Testing
import TransferTestSupport

@testable import TransferStorePostgres

/// The databases of queues when the suites of the queue run over PostgreSQL (`TRANSFER_TEST_STORE=postgres`, as in
/// `make check`): the same folder is the same queue.
enum SharedStores {
    static let isWanted = ProcessInfo.processInfo.environment["TRANSFER_TEST_STORE"] == "postgres"

    static func store(of state: String) async throws -> PostgresStore? {
        guard isWanted else { return nil }
        // The name uses an FNV-1a hash, as a schema's name is shorter than a path.
        let hash = state.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return try PostgresStore(PostgresAddress(await PostgresServer.shared.url(queue: "q\(hash)")))
    }
}

extension Trait where Self == ConditionTrait {
    /// The trait of tests that read their queue's folder, or watch folders, which a database does not support.
    static var ofAFolder: Self { .disabled(if: SharedStores.isWanted, "it looks into the folder of its queue") }
}
