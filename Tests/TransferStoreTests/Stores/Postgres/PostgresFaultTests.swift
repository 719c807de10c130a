import Testing
import TransferCore

@testable import TransferStorePostgres

/// The words for errors of the database.
@Suite struct PostgresFaultTests {
    private func explained(_ code: String) throws -> TransferError {
        let address = try PostgresAddress("postgres://db.example/queue") { _ in nil }
        return PostgresFault(code: code, message: "words of the server").explained(address)
    }

    /// A prepared statement is there already, or no longer, where another connection answers than before.
    @Test(arguments: ["42P05", "26000"])
    func aPoolerThatSharesConnectionsIsNamed(code: String) throws {
        let error = try explained(code)
        #expect(error.message.contains("PgBouncer's pool_mode") && error.message.contains("pool_mode = session"))
        #expect(!error.isTransient, "another attempt would fail as well")
    }

    @Test(arguments: [
        ("25006", "default_transaction_read_only"), ("57014", "statement_timeout"), ("53100", "disk"),
        ("3D000", "no such database"), ("28P01", "refuses the login"), ("28000", "refuses the login"),
        ("42501", "may not"),
    ])
    func aTroubleHasItsSentence(code: String, words: String) throws {
        #expect(try explained(code).message.contains(words))
    }

    @Test(arguments: [
        ("57014", true), ("3D000", false), ("28P01", false), ("28000", false), ("57P01", true), ("53300", true),
        ("53100", true), ("25006", true), ("42501", false), ("XX000", false),
    ])
    func anErrorThatPassesIsTransient(code: String, passes: Bool) throws {
        #expect(try explained(code).isTransient == passes)
    }

    /// A process that was admitted before waits for the end of a refusal, as during a change of the password.
    @Test(arguments: [
        ("28P01", true), ("28000", true), ("3D000", true), ("42501", true), ("57P01", false), ("XX000", false),
    ])
    func aRefusalIsToldFromOtherFaults(code: String, isRefusal: Bool) throws {
        #expect(PostgresFault.isRefusal(try explained(code)) == isRefusal)
    }
}
