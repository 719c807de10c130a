import Foundation
import Glibc
import Testing
import TransferTestSupport

/// Workers that find the database by its name, on a machine of their own with a name server.
@Suite(.enabled(if: PostgresServer.isWanted && NetworkNamespaces.areWanted), .timeLimit(.minutes(2)))
struct FleetNameTests {
    private static let name = "db.example"

    /// Starts a worker that knows the database by its name, and the name server.
    ///
    /// - Parameters:
    ///   - isService: Whether only a service file contains the name.
    ///   - saysTrust: Whether the service file declares how the server is verified.
    private func with(
        isService: Bool = false, saysTrust: Bool = true,
        _ body: (NetworkStage, TestNameServer, ChildProcess) async throws -> Void
    ) async throws {
        try await NetworkStage.with { stage in
            let names = try await stage.network.startNameServer()
            names.answers = false
            let authority = try await TestAuthority.shared()
            var options = PostgresServer.Options()
            options.namespace = stage.peer
            options.certificate = try await authority.issue { $0.alternativeNames = ["DNS:\(Self.name)"] }.server
            let database = try await PostgresServer.start(options)
            var queue = database.url(queue: "q", at: Self.name, "&sslrootcert=\(authority.anchors)")
            var environment: [String: String] = [:]
            if isService {
                queue = "postgres://transfer@/postgres?queue=q&service=main"
                environment["PGSERVICEFILE"] = try stage.place.folder.write(
                    """
                    [main]
                    host=\(Self.name)
                    port=\(database.port)
                    \(saysTrust ? "sslmode=verify-full\nsslrootcert=\(authority.anchors)" : "")

                    """, to: "services")
            }
            var command = stage.command("work", "--queue", queue, "-d", stage.place.folder.path, "--json")
            command.environment.merge(environment) { $1 }
            let worker = try command.start()
            do {
                try await body(stage, names, worker)
            } catch {
                await database.stop()
                throw error
            }
            await database.stop()
        }
    }

    @Test(arguments: [false, true])
    func aWorkerWaitsForTheNameAndThenWorks(_ isService: Bool) async throws {
        try await with(isService: isService) { _, names, worker in
            _ = try await worker.line {
                $0.contains("the queue's database is away, waiting for it: ")
                    && $0.contains("cannot find the host \(Self.name): ")
            }
            names.set(Self.name, [TestNetwork.server])
            names.answers = true
            try await worker.begins()
            worker.kill(SIGTERM)
            let result = try await worker.result()
            #expect(result.exitCode == 0, "\(result)")
        }
    }

    /// libpq's own default mode would accept any server.
    @Test func aServerOfAServiceFileIsVerifiedByDefault() async throws {
        try await with(isService: true, saysTrust: false) { _, names, worker in
            names.set(Self.name, [TestNetwork.server])
            names.answers = true
            _ = try await worker.line { $0.contains("root certificate file") }
            worker.kill(SIGTERM)
            _ = try await worker.result()
        }
    }

    @Test func aWorkerWaitingForAServicesNameStopsAtOnce() async throws {
        try await with(isService: true) { _, names, worker in
            try await until("a question") { !names.queries.isEmpty }
            let begun = ContinuousClock.now
            worker.kill(SIGTERM)
            let result = try await worker.result()
            #expect(result.exitCode == 0 && ContinuousClock.now - begun < .seconds(5), "\(result)")
        }
    }

    /// Packets to the database are lost: the worker waits for a connection when it is asked to end.
    @Test func aWorkerWaitingForAServerStopsAtOnce() async throws {
        try await with { stage, names, worker in
            try await stage.peer.ip(
                "address del \(TestNetwork.server)/32 dev lo", "route add blackhole \(TestNetwork.server)/32")
            names.set(Self.name, [TestNetwork.server])
            names.answers = true
            try await until("a question") { !names.queries.isEmpty }
            let begun = ContinuousClock.now
            worker.kill(SIGTERM)
            let result = try await worker.result()
            #expect(result.exitCode == 0 && ContinuousClock.now - begun < .seconds(5), "\(result)")
        }
    }
}
