import Testing
import TransferCore

@testable import TransferStorePostgres

@Suite struct PostgresAddressTests {
    private func message(_ url: String) -> String? {
        do {
            _ = try PostgresAddress(url)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        "postgres://ann:secret@db.example/jobs", "postgres://ann@db.example/jobs?password=secret",
        "postgresql://:secret@/jobs?queue=nightly",
    ])
    func aPasswordInTheAddressIsRefusedWithTheWayAndIsntRepeated(_ url: String) throws {
        let message = try #require(self.message(url))
        #expect(message.contains("~/.pgpass") && message.contains("?service=NAME"))
        #expect(!message.contains("secret"))
    }

    @Test func theQueueIsNamedInTheAddressAndHasASchemaOfItsOwn() throws {
        let address = try PostgresAddress("postgres://ann@db.example:6543/jobs?connect_timeout=3&queue=nightly_2")
        #expect(address.queue == "nightly_2" && address.schema == "transfer_nightly_2")
        #expect(address.keywords["dbname"] == "jobs" && address.keywords["connect_timeout"] == "3")
        #expect(address.keywords["user"] == "ann" && address.keywords["port"] == "6543")
        #expect(address.shown == "postgres://db.example:6543/jobs?queue=nightly_2")
        #expect(try PostgresAddress("postgres:///jobs").queue == "default")
    }

    @Test(arguments: ["Nightly", "a-b", "a;b", "", String(repeating: "a", count: 41)])
    func aQueueNameWithSpecialCharactersIsRefused(_ name: String) {
        #expect(message("postgres:///jobs?queue=\(name)") != nil)
    }

    @Test(arguments: [
        ("postgres://db.example/jobs", "verify-full"), ("postgres://db.example/jobs?sslmode=require", "require"),
        ("postgres://localhost/jobs", "prefer"), ("postgres://%2Frun%2Fpostgresql/jobs", "prefer"),
        ("postgres://localhost,127.0.0.1,[::1]/jobs", "prefer"),
        ("postgres://localhost,db.example/jobs", "verify-full"),
        ("postgres://localhost/jobs?hostaddr=192.0.2.1", "verify-full"),
        ("postgres:///jobs?hostaddr=192.0.2.1", "verify-full"), ("postgres://db.example/jobs?hostaddr=::1", "prefer"),
        ("postgres:///jobs", "prefer"),
    ])
    func remoteConnectionsAreVerifiedByDefault(_ url: String, _ mode: String) throws {
        #expect(try PostgresAddress(url) { _ in nil }.keywords["sslmode"] == mode)
    }

    @Test(arguments: [
        ("PGHOST", "db.example", "verify-full"), ("PGHOSTADDR", "192.0.2.1", "verify-full"),
        ("PGHOST", "/run/postgresql", "prefer"), ("PGHOST", "", "prefer"), ("PGSSLMODE", "require", nil),
        ("PGSERVICE", "main", "prefer"),
    ])
    func variablesFillInForTheAddress(_ name: String, _ value: String, _ mode: String?) throws {
        let address = try PostgresAddress("postgres:///jobs") { $0 == name ? value : nil }
        #expect(address.keywords["sslmode"] == mode)
    }

    @Test func eachServerIsShownWithItsPortAndSocketsArent() throws {
        #expect(try PostgresAddress("postgres://a:1,b/jobs?queue=q").shown == "postgres://a:1,b/jobs?queue=q")
        #expect(try PostgresAddress("postgres://%2Frun:5433/jobs?queue=q").shown == "postgres://:5433/jobs?queue=q")
    }

    @Test func anythingElseIsNoAddress() {
        #expect(message("mysql://db.example/jobs") != nil)
        #expect(message("postgres://db.example:notaport/jobs") == nil, "libpq says that when it connects")
        #expect(message("postgres://db.example/jobs?nonsense=1") != nil)
    }
}
