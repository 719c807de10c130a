import Testing
import TransferCrypto
import TransferTestSupport

@testable import TransferNetworking

@Suite struct RevocationCacheTests {
    @Test func theCacheIsBounded() async throws {
        let cache = RevocationCache(maxAnswers: 2, maxListBytes: 1_000)
        let now: Int64 = 1_000
        func key(_ number: UInt8) -> RevocationCache.AnswerKey { .init(certificate: [number], issuer: []) }
        func answer(_ status: RevocationStatus, until end: Int64?) -> RevocationAnswer {
            RevocationAnswer(status: status, thisUpdate: now, nextUpdate: end)
        }
        cache.keep(answer(.good, until: 2_000), for: key(1), at: now)
        cache.keep(answer(.good, until: 3_000), for: key(2), at: now)
        cache.keep(answer(.good, until: 2_500), for: key(3), at: now)
        #expect(cache.answer(key(1), at: now) == nil, "the one that ends first makes place")
        #expect(cache.answer(key(2), at: now) != nil && cache.answer(key(3), at: now) != nil)
        #expect(cache.answer(key(3), at: 2_500) == nil)
        cache.keep(answer(.unknown, until: 9_000), for: key(4), at: now)
        cache.keep(answer(.good, until: nil), for: key(5), at: now)
        #expect(cache.answer(key(4), at: now) == nil && cache.answer(key(5), at: now) == nil)
        let authority = try await TestAuthority.shared()
        let list = try RevocationList(path: try await authority.revocationList(revoked: []))
        let end = try #require(list.nextUpdate)
        for number in 0..<9 { cache.keep(list, from: "http://\(number)", at: end - 1) }
        let kept = (0..<9).filter { cache.list("http://\($0)", at: end - 1) != nil }
        #expect(kept.count == 1_000 / list.der.count)
        #expect(cache.list("http://8", at: end) == nil)
    }
}
