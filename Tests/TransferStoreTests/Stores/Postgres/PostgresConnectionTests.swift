import Glibc
import Testing
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferStorePostgres

/// The connection to a server: names, certificates, and servers that do not answer.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(1))) struct PostgresConnectionTests {
    /// One server for all tests, at 127.0.0.1 and with a certificate for `db.example`.
    private static let server = Task {
        var options = PostgresServer.Options()
        options.certificate = try await TestAuthority.shared().issue {
            $0.name = "db.example"
            $0.alternativeNames = ["DNS:db.example"]
        }.server
        return try await PostgresServer.start(options)
    }

    /// Names that resolve to this machine, as in DNS.
    private let names = PostgresNames { host in
        host.hasSuffix(".example")
            ? .success(["127.0.0.1"])
            : .failure(TransferError(.cannotResolveHost, "cannot find the host \(host): unknown", isTransient: true))
    }

    private func connect(
        _ name: String, _ parameters: String = "", login: String = "transfer", trusting anchors: String? = nil,
        names: PostgresNames? = nil, within timeout: Duration = .seconds(15)
    ) async throws -> PostgresConnection {
        let root = if let anchors { anchors } else { try await TestAuthority.shared().anchors }
        let url = try await Self.server.value.url(
            queue: "q", at: name, login: login, "&sslrootcert=\(root)\(parameters)")
        return try PostgresConnection(PostgresAddress(url), names: names ?? self.names, within: timeout)
    }

    private func refusal(_ connect: () async throws -> PostgresConnection) async -> TransferError? {
        await #expect(throws: TransferError.self) { _ = try await connect() }
    }

    // MARK: Names and certificates

    @Test func aNameThatOurResolverFoundIsComparedWithTheCertificate() async throws {
        let answer = try await connect("db.example").script(
            "SELECT ssl, client_addr FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE pid = pg_backend_pid()")
        #expect(answer.first?.flag(0) == true && answer.first?.text(1) == "127.0.0.1")
        let error = await refusal { try await connect("other.example") }
        #expect(error?.message.contains("\"db.example\" does not match host name \"other.example\"") == true)
        #expect(error?.code == .cannotConnect)
    }

    @Test func aServerWithAnUntrustedAuthorityIsRefused() async throws {
        let stranger = try await TestAuthority.make(name: "Stranger")
        let error = await refusal { try await connect("db.example", trusting: stranger.anchors) }
        #expect(error?.message.contains("certificate verify failed") == true)
    }

    @Test func thePasswordIsFoundByTheName() async throws {
        let folder = try TemporaryFolder("pgpass")
        let file = try folder.write("db.example:*:*:guarded:open sesame\n", to: "pgpass")
        chmod(file, 0o600)
        try await Self.server.value.ask("CREATE ROLE guarded LOGIN PASSWORD 'open sesame'")
        let db = try await connect("db.example", "&passfile=\(file)", login: "guarded")
        #expect(try db.script("SELECT current_user").first?.text(0) == "guarded")
        let error = await refusal {
            try await connect("db.example", "&passfile=\(folder.path("none"))", login: "guarded")
        }
        #expect(error?.message.contains("no password supplied") == true)
    }

    @Test func localhostTakesNoLookUp() async throws {
        let nobody = PostgresNames { _ in
            Issue.record("somebody was asked")
            return .success(["192.0.2.1"])
        }
        let db = try await connect("localhost", "&sslmode=require", names: nobody)
        #expect(try db.script("SELECT 1").first?.int(0) == 1)
    }

    // MARK: Unknown and silent servers

    @Test func anUnknownNameIsReportedAtOnceAsAnUnavailableDatabase() async throws {
        let begun = MonotonicTime.now
        let error = try #require(await refusal { try await connect("nosuch.invalid") })
        #expect(MonotonicTime.now - begun < .seconds(5))
        let port = try await Self.server.value.port
        #expect(
            error.message
                == "cannot reach the queue postgres://nosuch.invalid:\(port)/postgres?queue=q: cannot find the host nosuch.invalid: unknown"
        )
        #expect(PostgresFault.isUnavailable(error))
    }

    /// The look-up returns when the test is over.
    @Test func silentNameServersDelayNoCaller() async throws {
        let gate = Gate()
        defer { gate.letThrough() }
        let silent = PostgresNames { _ in
            gate.pass()
            return .success(["127.0.0.1"])
        }
        let late = try #require(
            await refusal { try await connect("db.example", names: silent, within: .milliseconds(100)) })
        #expect(late.message.hasSuffix("cannot find the host db.example: no name server answered in time"))
        #expect(PostgresFault.isUnavailable(late))
        let (abandonment, workers) = (PostgresCancellation(), WorkerPool(name: "test", threads: 1))
        let address = try PostgresAddress("postgres://db.example/postgres")
        let begun = MonotonicTime.now
        async let wait = workers.run {
            #expect(throws: TransferError.self) { try PostgresConnection(address, abandonment, names: silent) }
        }
        abandonment.tell()
        #expect(try await wait?.code == .cancelled)
        #expect(MonotonicTime.now - begun < .seconds(5))
        workers.stop()
    }

    @Test func theNextServerIsTriedAfterSilenceOrARefusal() async throws {
        let silent = try SilentListener()
        let shut = try HeldPort()
        let port = try await Self.server.value.port
        let root = try await TestAuthority.shared().anchors
        let parameters = "queue=q&sslrootcert=\(root)&target_session_attrs=read-write"
        let address = try PostgresAddress(
            "postgres://transfer@nosuch.invalid,a.example:\(silent.port),b.example:\(shut.number),db.example:\(port)/postgres?\(parameters)"
        )
        let db = try PostgresConnection(address, names: names, within: .seconds(8))
        #expect(try db.script("SELECT 1").first?.int(0) == 1)
    }
}
