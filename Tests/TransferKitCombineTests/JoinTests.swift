import Dispatch
import Foundation
import Synchronization
import Testing
import TransferKitCombine
import TransferTestServer
import TransferTestSupport

/// Publishers that join other publishers, which OpenCombine lacks.
@Suite("Joined publishers", .timeLimit(.minutes(1)))
struct JoinTests {
    enum Failed: Error { case one, two }
    typealias Subject = PassthroughSubject<Int, Failed>

    /// A subscriber whose demand the test sets.
    private final class Reader<Input>: Subscriber {
        typealias Failure = Failed
        var subscription: (any Subscription)?
        var values: [Input] = []
        var end: Subscribers.Completion<Failed>?
        var more = Subscribers.Demand.none
        let first: Subscribers.Demand

        init(_ first: Subscribers.Demand = .unlimited) { self.first = first }

        func receive(subscription: any Subscription) {
            self.subscription = subscription
            if first > 0 { subscription.request(first) }
        }

        func receive(_ input: Input) -> Subscribers.Demand {
            values.append(input)
            return more
        }

        func receive(completion: Subscribers.Completion<Failed>) { end = completion }
    }

    /// A publisher whose values the test gives, and which records its demand.
    private final class Source: Publisher, Subscription {
        typealias Output = Int
        typealias Failure = Failed
        var asked = Subscribers.Demand.none
        var isCancelled = false
        private var subscriber: AnySubscriber<Int, Failed>?

        func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Failed {
            self.subscriber = AnySubscriber(subscriber)
            subscriber.receive(subscription: self)
        }

        func request(_ demand: Subscribers.Demand) { asked += demand }
        func cancel() { isCancelled = true }
        func send(_ value: Int) { asked += subscriber?.receive(value) ?? .none }
        func finish() { subscriber?.receive(completion: .finished) }
    }

    // MARK: The latest of all

    @Test func theLatestOfTwoIsTheLastValueOfEach() {
        let (one, two, reader) = (Subject(), Subject(), Reader<(Int, Int)>())
        Publishers.CombineLatest(one, two).subscribe(reader)
        one.send(1)
        one.send(2)
        #expect(reader.values.isEmpty)
        two.send(3)
        two.send(4)
        one.send(5)
        #expect(reader.values.map { [$0.0, $0.1] } == [[2, 3], [2, 4], [5, 4]])
    }

    @Test func threeAndFourAndATransformJoinLikewise() {
        let subjects = (0..<4).map { _ in Subject() }
        let (three, four) = (Reader<(Int, Int, Int)>(), Reader<(Int, Int, Int, Int)>())
        let (sum, pair) = (Reader<Int>(), Reader<Int>())
        subjects[0].combineLatest(subjects[1], subjects[2]).subscribe(three)
        Publishers.CombineLatest4(subjects[0], subjects[1], subjects[2], subjects[3]).subscribe(four)
        subjects[0].combineLatest(subjects[1], subjects[2], subjects[3]) { $0 + $1 + $2 + $3 }.subscribe(sum)
        subjects[0].combineLatest(subjects[1]) { $0 * $1 }.subscribe(pair)
        for (index, subject) in subjects.enumerated() { subject.send(index + 1) }
        #expect(three.values.map { [$0.0, $0.1, $0.2] } == [[1, 2, 3]])
        #expect(four.values.map { [$0.0, $0.1, $0.2, $0.3] } == [[1, 2, 3, 4]])
        #expect(sum.values == [10] && pair.values == [2])
    }

    @Test func withoutDemandOnlyTheNewestValueIsKept() {
        let (one, two, reader) = (Source(), Source(), Reader<(Int, Int)>(.none))
        Publishers.CombineLatest(one, two).subscribe(reader)
        #expect(one.asked == .none)
        reader.subscription?.request(.max(1))
        #expect(one.asked == .max(1) && two.asked == .max(1))
        one.send(1)
        // The publisher gave no value without demand.
        #expect(one.asked == .max(2))
        two.send(2)
        #expect(reader.values.count == 1)
        two.send(3)
        one.send(4)
        #expect(reader.values.count == 1)
        reader.subscription?.request(.max(1))
        #expect(reader.values.map { [$0.0, $0.1] } == [[1, 2], [4, 3]])
    }

    @Test func aJoinFinishesWithAllAndFailsWithTheFirstFailure() {
        let (one, two, reader) = (Subject(), Subject(), Reader<(Int, Int)>())
        one.combineLatest(two).subscribe(reader)
        one.send(1)
        one.send(completion: .finished)
        #expect(reader.end == nil)
        two.send(2)
        two.send(completion: .finished)
        #expect(reader.values.count == 1 && reader.end == .finished)

        let (good, bad, failing) = (Source(), Subject(), Reader<(Int, Int)>())
        good.combineLatest(bad).subscribe(failing)
        bad.send(completion: .failure(.two))
        good.send(1)
        #expect(failing.end == .failure(.two) && failing.values.isEmpty && good.isCancelled)
    }

    @Test func aCancellationReachesEveryPublisher() {
        let (one, two, reader) = (Source(), Source(), Reader<(Int, Int)>())
        one.combineLatest(two).subscribe(reader)
        reader.subscription?.cancel()
        one.send(1)
        two.send(2)
        #expect(one.isCancelled && two.isCancelled && reader.values.isEmpty && reader.end == nil)
    }

    // MARK: Merging

    @Test func aMergeHandsOnEverythingInTheOrderInWhichItComes() {
        let (one, two, three) = (Subject(), Subject(), Subject())
        let (many, typed, all) = (Reader<Int>(), Reader<Int>(), Reader<Int>())
        Publishers.MergeMany(one, two).merge(with: three).subscribe(many)
        one.map { $0 }.merge(with: two.filter { _ in true }).subscribe(typed)
        Publishers.Merge3(one, two, three).subscribe(all)
        one.send(1)
        two.send(2)
        three.send(3)
        one.send(4)
        #expect(many.values == [1, 2, 3, 4] && all.values == [1, 2, 3, 4] && typed.values == [1, 2, 4])
        one.send(completion: .finished)
        two.send(completion: .finished)
        #expect(many.end == nil && typed.end == .finished)
        three.send(completion: .finished)
        #expect(many.end == .finished && all.end == .finished)
    }

    @Test func aMergeIsAskedForOneAtATimeUnlessEverythingIsWanted() {
        let (one, two, reader) = (Source(), Source(), Reader<Int>(.max(1)))
        one.merge(with: two).subscribe(reader)
        #expect(one.asked == .max(1) && two.asked == .max(1))
        one.send(1)
        two.send(2)
        #expect(reader.values == [1] && two.asked == .max(1))
        reader.subscription?.request(.max(2))
        #expect(reader.values == [1, 2])
        let (greedy, all) = (Source(), Reader<Int>())
        Publishers.MergeMany([greedy]).subscribe(all)
        #expect(greedy.asked == .unlimited)
    }

    @Test func aMergeOfNothingIsOverAtOnce() {
        let reader = Reader<Int>()
        Publishers.MergeMany([Subject]()).subscribe(reader)
        #expect(reader.end == .finished)
    }

    @Test func publishersOnManyThreadsLoseNothing() {
        let subjects = (0..<4).map { _ in PassthroughSubject<Int, Never>() }
        let count = Mutex(0)
        let subscription = Publishers.MergeMany(subjects).sink { _ in count.withLock { $0 += 1 } }
        let sent = Subjects(subjects)
        DispatchQueue.concurrentPerform(iterations: 4) { index in
            for value in 0..<1000 { sent.all[index].send(value) }
        }
        #expect(count.withLock { $0 } == 4000)
        subscription.cancel()
    }

    private struct Subjects: @unchecked Sendable {  // A subject takes values from any thread.
        let all: [PassthroughSubject<Int, Never>]
        init(_ all: [PassthroughSubject<Int, Never>]) { self.all = all }
    }

    // MARK: With requests

    @Test func twoResponsesAreWaitedForTogetherOnAQueueOfTheProgram() async throws {
        try await withTestServer { server in
            server.serve("/a", .text("a"))
            server.serve("/b", .text("b"))
            let (queue, key) = (DispatchQueue(label: "scheduler"), DispatchSpecificKey<Bool>())
            queue.setSpecific(key: key, value: true)
            let session = Session()
            let first = session.request(server.url("/a")).publishString(queue: .global()).value()
            let second = session.request(server.url("/b")).publishString(queue: .global()).value()
            let text = await withCheckedContinuation { continuation in
                let tokens = Tokens()
                Publishers.CombineLatest(first, second).receive(on: queue)
                    .sink { _ in
                        withExtendedLifetime(tokens) {}
                    } receiveValue: { one, two in
                        continuation.resume(
                            returning: DispatchQueue.getSpecific(key: key) == true ? one + two : "elsewhere")
                    }
                    .store(in: tokens)
            }
            #expect(text == "ab")
        }
    }
}
