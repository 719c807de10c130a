import TransferEventLoop

/// The offers to the consumer, one batch at a time, even if the watched folder was lost and returned meanwhile.
///
/// `@unchecked Sendable`: used only on its loop.
final class WatchOffers: @unchecked Sendable {
    private typealias Offer = (files: [FileVersion], answer: (Int) -> Void)

    private let consumer: any WatchConsumer
    private let loop: EventLoop
    private var current: Offer?
    /// An offer of a later run than the current one; each run has at most one.
    private var next: Offer?
    /// The callbacks for the consumer's return from ignored files.
    private var leaving: [Int: () -> Void] = [:]
    private var lastLeft = 0

    init(_ consumer: any WatchConsumer, loop: EventLoop) {
        self.consumer = consumer
        self.loop = loop
    }

    /// Offers files.
    ///
    /// - Parameter answer: A function that is called on the loop with the number of handled files.
    func offer(_ files: [FileVersion], answer: @escaping (Int) -> Void) {
        loop.preconditionOnLoop()
        if current == nil { ask((files, answer)) } else { next = (files, answer) }
    }

    /// Reports ignored files.
    ///
    /// - Parameter answer: A function that is called on the loop once the consumer has returned.
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
