import Testing
import TransferCore
import TransferEngine
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

@Suite struct TLSRulesCacheTests {
    @Test func aChangedPassphraseDoesNotFindTheOldRules() async throws {
        let authority = try await TestAuthority.shared()
        let issued = try await authority.issue()
        var settings = JobSettings.TLSSettings()
        settings.cert = issued.chain
        settings.key = try await authority.encrypted(key: issued.key, passphrase: "open sesame")
        let cache = TLSRulesCache()
        let rules = try cache.rules(settings, passphrase: "open sesame")
        #expect(throws: TransferError.self) { try cache.rules(settings, passphrase: "close sesame") }
        #expect(throws: TransferError.self) { try cache.rules(settings) }
        let again = try cache.rules(settings, passphrase: "open sesame")
        #expect(rules == again)
    }
}
