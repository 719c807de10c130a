import Glibc
import Testing
import TransferCore
import TransferEventLoop

@testable import TransferEngine

/// Connections that wait for another request.
@Suite struct PlainConnectionsTests {
    private func connection(to place: String) -> PlainConnection {
        PlainConnection(place: Array(place.utf8), socket: dup(0), localAddress: nil, remoteAddress: nil)
    }

    @Test func theOneUsedLastIsUsedAgain() {
        let connections = PlainConnections()
        let made = (0..<3).map { _ in connection(to: "a") }
        for one in made { connections.keep(one) { _ in Issue.record("closed") } }
        #expect(connections.take(Array("b".utf8)) { _ in } == nil)
        for one in made.reversed() { #expect(connections.take(one.place) { _ in } === one) }
        #expect(connections.take(Array("a".utf8)) { _ in } == nil)
    }

    @Test func theOneThatWaitedLongestMakesRoom() {
        let connections = PlainConnections()
        var closed: [PlainConnection] = []
        let first = connection(to: "a")
        connections.keep(first) { closed.append($0) }
        for number in 1..<256 { connections.keep(connection(to: "\(number % 4)")) { closed.append($0) } }
        #expect(closed.isEmpty)
        let last = connection(to: "b")
        connections.keep(last) { closed.append($0) }
        #expect(closed.count == 1 && closed.first === first)
        #expect(connections.take(last.place) { _ in } === last && connections.take(first.place) { _ in } == nil)
    }

    @Test func whatWaitedTooLongIsGivenUpWithAllBeforeIt() {
        let connections = PlainConnections()
        for _ in 0..<3 { connections.keep(connection(to: "a")) { _ in } }
        var closed = 0
        let late = MonotonicTime.now + PlainConnections.ageLimit + .seconds(1)
        #expect(connections.take(Array("a".utf8), now: late) { _ in closed += 1 } == nil && closed == 3)
    }

    @Test func whatIsClosedIsGone() {
        let connections = PlainConnections()
        let (one, other) = (connection(to: "a"), connection(to: "a"))
        connections.keep(one) { _ in }
        connections.keep(other) { _ in }
        connections.remove(other)
        #expect(connections.take(one.place) { _ in } === one && connections.take(one.place) { _ in } == nil)
        connections.keep(one) { _ in }
        var closed = 0
        connections.removeAll { _ in closed += 1 }
        #expect(closed == 1 && connections.take(one.place) { _ in } == nil)
    }
}
