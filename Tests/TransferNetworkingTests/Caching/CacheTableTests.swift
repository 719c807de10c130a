import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("RFC 9111, rule by rule", .timeLimit(.minutes(2)))
struct CacheTableTests {
    @Test(arguments: CacheCase.all)
    func theRuleHolds(_ rule: CacheCase) async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, status: rule.status, rule.answer)
            let first = await client.ask(server.url("/r"), .get, rule.request)
            #expect(first.status == rule.status && first.text == "1")
            client.clock.advance(rule.wait)
            let second = await client.ask(server.url("/r"), .get, rule.second)
            let requests = server.requests(to: "/r")
            let isShown =
                requests.last?.headers["If-None-Match"] != nil || requests.last?.headers["If-Modified-Since"] != nil
            switch rule.outcome {
            case .reused:
                #expect(requests.count == 1 && second.text == "1" && second.status == rule.status)
                #expect(second.fetches == [.localCache])
                let age = try #require(second.field("Age").flatMap { Double($0) })
                #expect(age >= rule.wait.rounded() && first.error == nil)
            case .confirmed:
                #expect(requests.count == 2 && isShown && second.text == "1" && second.status == rule.status)
                #expect(requests.last?.status == 304 && second.fetches == [.networkLoad, .localCache])
            case .fetched:
                #expect(requests.count == 2 && !isShown && second.text == "2")
                #expect(second.fetches == [.networkLoad])
            case .timedOut:
                #expect(requests.count == 1 && second.status == 504 && second.text.isEmpty)
            }
        }
    }

    @Test func theTableHasAtLeastSixtyRulesAndEachNamesItsSection() {
        #expect(CacheCase.all.count >= 60)
        #expect(CacheCase.all.allSatisfy { $0.section.first?.isNumber == true })
        #expect(Set(CacheCase.all.map { "\($0) \($0.answer) \($0.second)" }).count == CacheCase.all.count)
    }
}
