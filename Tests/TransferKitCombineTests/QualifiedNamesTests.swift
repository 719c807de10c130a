import Testing
import TransferKitCombine

/// Code that writes the names of Combine with their module.
@Suite struct QualifiedNamesTests {
    private final class Own: Combine.Subscription {
        var isCancelled = false
        func request(_ demand: Combine.Subscribers.Demand) {}
        func cancel() { isCancelled = true }
    }

    @Test func theNamesAreThoseOfOpenCombine() {
        let publisher: Combine.AnyPublisher<Int, Never> = Combine.Just(1).eraseToAnyPublisher()
        var values: [Int] = []
        let subscription: Combine.AnyCancellable = publisher.sink { values.append($0) }
        subscription.cancel()
        #expect(values == [1])
        let own = Own()
        own.cancel()
        #expect(own.isCancelled)
    }
}
