import TransferEventLoop

/// Asks the consumer, one batch at a time, also when the watched folder was lost and came back meanwhile.
///
/// `@unchecked Sendable`: touched on its loop only.
final class WatchOffers: @unchecked Sendable {
    private typealias Offer = (files: [FileVersion], answer: (Int) -> Void)

    private let consumer: any WatchConsumer
    private let loop: EventLoop
    private var current: Offer?
    /// An offer of a later run than the current one; each has one at most.
    private var next: Offer?
    /// Callers who wait until the consumer has heard of what is left alone.
    private var leaving: [Int: () -> Void] = [:]
    private var lastLeft = 0

    init(_ consumer: any WatchConsumer, loop: EventLoop) {
        self.consumer = consumer
        self.loop = loop
    }

    /// - Parameter answer: Called on the loop with how many have been handled.
    func offer(_ files: [FileVersion], answer: @escaping (Int) -> Void) {
        loop.preconditionOnLoop()
        if current == nil { ask((files, answer)) } else { next = (files, answer) }
    }

    /// - Parameter answer: Called on the loop once the consumer has heard of them.
    func leave(_ files: [FileVersion], answer: @escaping () -> Void) {
        loop.preconditionOnLoop()
        lastLeft += 1
        let number = lastLeft
        leaving[number] = answer
        Task { [self, consumer] in
            await consumer.leave(files)
            loop.execute { self.leaving.removeValue(forKey: number)?() }
        }
    }

    private func ask(_ offer: Offer) {
        current = offer
        let files = offer.files
        Task { [self, consumer] in
            let handled = await consumer.offer(files)
            loop.execute { self.answered(handled) }
        }
    }

    private func answered(_ handled: Int) {
        let answer = current?.answer
        current = nil
        if let waiting = next {
            next = nil
            ask(waiting)
        }
        answer?(handled)
    }
}
