import Testing
import TransferCore

@Suite struct NetrcTests {
    private static let file = """
        # machine comment login no password no
        machine one login ada password pw#1 account x
        machine two
            login bob
            password "with a \\"blank\\" \\\\"
        macdef init
        machine macro login no password no
        cd /x

        machine two login carol password second
        machine [::1] login six password p6
        machine bare password only
        default login anonymous password me@here
        machine late login l password p
        """

    @Test(
        arguments: [
            // Columns: the host and the requested user; the login and password of the entry.
            ("one", nil, "ada pw#1"), ("ONE", nil, "ada pw#1"), ("one", "ada", "ada pw#1"), ("one", "eve", nil),
            ("two", nil, #"bob with a "blank" \"#), ("two", "carol", "carol second"), ("two", "Carol", nil),
            ("comment", nil, nil), ("macro", nil, nil), ("::1", nil, "six p6"), ("bare", nil, "- only"),
            ("bare", "eve", "- only"), ("late", nil, "l p"), ("sub.one", nil, nil), ("", nil, nil),
        ] as [(String, String?, String?)])
    func aMachineHasItsOwnEntryAndAUserChooses(_ host: String, _ user: String?, _ expected: String?) {
        let entry = Netrc(Self.file).entry(of: host, user: user)
        #expect(entry.map { "\($0.login ?? "-") \($0.password)" } == expected)
    }

    @Test(
        arguments: [
            ("elsewhere", nil, "anonymous"), ("elsewhere", "anonymous", "anonymous"), ("elsewhere", "eve", nil),
            ("one", nil, "ada"), ("one", "anonymous", "anonymous"), ("one", "eve", nil),
        ] as [(String, String?, String?)])
    func theDefaultStandsForOtherMachinesAndItsOwnUser(_ host: String, _ user: String?, _ login: String?) {
        #expect(Netrc(Self.file).entryOrDefault(of: host, user: user)?.login == login)
    }

    @Test(arguments: [
        "", "\n", "machine", "machine a login", "login x password y", "default", "macdef", "macdef x", "\"",
        "machine \"a", "machine a login \"b\\", "#", "# machine a", "password", "\u{0}", "machine a\r\nlogin b\r\n",
    ])
    func truncatedFilesAreParsedPartially(_ text: String) {
        #expect(Netrc(text).entry(of: "x") == nil)
    }

    @Test func noPasswordIsInItsDescription() {
        #expect(!"\(Netrc(Self.file))".contains("second"))
    }
}
