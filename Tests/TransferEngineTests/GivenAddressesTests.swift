import Testing
import TransferCore
import TransferEventLoop

@testable import TransferEngine

@Suite struct GivenAddressesTests {
    private let now = MonotonicTime(nanoseconds: 100_000_000_000)

    @Test func aNameIsGivenAnewAfterHalfAMinute() {
        var given = GivenAddresses()
        #expect(given.isStale("a:80", now: now))
        #expect(given.note("a:80", now: now) == [])
        #expect(!given.isStale("a:80", now: now + .seconds(30)) && given.has("a:80"))
        #expect(given.isStale("a:80", now: now + .seconds(31)) && given.isStale("a:81", now: now))
    }

    /// CURLOPT_RESOLVE(3): `-HOST:PORT`.
    @Test func theOldestOfManyIsRemoved() {
        var given = GivenAddresses()
        for number in 0..<256 { #expect(given.note("\(number):80", now: now) == []) }
        #expect(given.note("7:80", now: now + .seconds(9)) == [], "it is there already")
        #expect(given.note("256:80", now: now) == ["-0:80"] && !given.has("0:80"))
        #expect(given.note("257:80", now: now) == ["-1:80"] && given.has("7:80"))
    }
}
