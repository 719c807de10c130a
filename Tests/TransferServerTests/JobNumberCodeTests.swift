import Testing

@testable import TransferServer

@Suite struct JobNumberCodeTests {
    @Test func aNameIsSixteenDigitsAndLeadsBackToItsNumber() {
        for number in [1, 2, 3, 1000, 123_456_789, Int64.max] as [Int64] {
            let name = JobNumberCode.job.name(number)
            #expect(name.utf8.count == 16 && JobNumberCode.job.number(name) == number)
            #expect(JobNumberCode.batch.number(JobNumberCode.batch.name(number)) == number)
            #expect(JobNumberCode.batch.name(number) != name, "a key is no gid")
        }
        #expect(JobNumberCode.job.number("0000000000000000") == nil)
        #expect(JobNumberCode.job.number("xyz") == nil && JobNumberCode.job.number("") == nil)
    }

    @Test func nearNumbersDifferInTheirFirstDigits() {
        let names = Set((1...1000 as ClosedRange<Int64>).map { JobNumberCode.job.name($0).prefix(6) })
        #expect(names.count > 990, "clients show the first six")
    }
}

@Suite struct AccessRulesTests {
    @Test func secretsAreComparedWhole() throws {
        var rules = AccessRules()
        rules.secrets = [try #require(ServerSecret("correct-horse"))]
        rules.readSecrets = [try #require(ServerSecret("only-looking"))]
        #expect(rules.level(authorization: "Bearer correct-horse") == .owner)
        #expect(rules.level(authorization: "bearer only-looking") == .reader)
        for wrong in ["Bearer correct-hors", "Bearer correct-horsee", "Bearer ", "Basic correct-horse", ""] {
            #expect(rules.level(authorization: wrong) == .unauthenticated)
        }
        #expect(rules.level(authorization: nil) == .unauthenticated)
        #expect(ServerSecret("short") == nil && ServerSecret("with a space") == nil)
    }

    @Test(arguments: ["localhost", "127.0.0.1:6800", "[::1]:6800", "LOCALHOST:1"]) func ownNamesAreAdmitted(
        host: String
    ) {
        #expect(AccessRules().admits(host: host))
    }

    @Test(arguments: ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", ""])
    func otherHostsAreRefused(host: String) {
        #expect(!AccessRules().admits(host: host))
    }
}
