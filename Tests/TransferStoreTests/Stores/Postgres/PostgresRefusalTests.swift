import Testing
import TransferCore

@testable import TransferStorePostgres

/// The words and codes of servers that accept no connection.
@Suite struct PostgresRefusalTests {
    private static let place = #"connection to server at "127.0.0.1", port 5432 failed"#

    private static let starting = ": FATAL: the database system is starting up"
    private static let refused = place + ": Connection refused; Is the server running?"

    static let messages: [(message: String, words: String, code: String?)] = [
        (
            place + #": FATAL:  3D000: database "q" does not exist; LOCATION:  InitPostgres, postinit.c:912"#,
            place + #": FATAL: database "q" does not exist"#, "3D000"
        ),
        (place + ": FATAL:  57P03: the database system is starting up", place + starting, "57P03"),
        (refused, refused, nil), ("fe_sendauth: no password supplied", "fe_sendauth: no password supplied", nil),
        ("", "", nil),
    ]

    @Test(arguments: messages)
    func aVerboseMessageHasItsCode(message: String, words: String, code: String?) {
        let refusal = PostgresRefusal(verbose: message)
        #expect(refusal.words == words && refusal.code == code)
    }

    static let refusals: [(codes: [String?], passes: Bool)] = [
        (["3D000"], false), (["28P01", "28000"], false), (["57P03"], true), ([nil], true), (["3D000", nil], true),
    ]

    @Test(arguments: refusals)
    func aQueueIsWaitedForUnlessAllServersRefuseForGood(codes: [String?], passes: Bool) throws {
        let address = try PostgresAddress("postgres://db.example/queue") { _ in nil }
        let refusals = codes.map { PostgresRefusal(words: "words", code: $0) }
        #expect(PostgresRefusal.error(refusals, address).isTransient == passes)
    }
}
