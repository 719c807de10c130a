public import OpenCombine

// What OpenCombine lacks of Combine's publishers that join others; see JoinState for the rule.

extension Publishers {
    /// The values of two publishers, in the order in which they come.
    public struct Merge<
        A: Publisher, B: Publisher
    >: Publisher
    where
        A.Output == B.Output, A.Failure == B.Failure
    {
        public typealias Output = A.Output
        public typealias Failure = A.Failure

        public let a: A
        public let b: B

        public init(_ a: A, _ b: B) {
            self.a = a
            self.b = b
        }

        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            let joined = JoinSubscription<Output, Output, Failure>(.each, count: 2, AnySubscriber(subscriber)) { $0 }
            subscriber.receive(subscription: joined)
            joined.subscribe(a, 0) { $0 }
            joined.subscribe(b, 1) { $0 }
        }
    }

    /// The values of three publishers, in the order in which they come.
    public struct Merge3<
        A: Publisher, B: Publisher, C: Publisher
    >: Publisher
    where
        A.Output == B.Output, A.Failure == B.Failure, B.Output == C.Output, B.Failure == C.Failure
    {
        public typealias Output = A.Output
        public typealias Failure = A.Failure

        public let a: A
        public let b: B
        public let c: C

        public init(_ a: A, _ b: B, _ c: C) {
            self.a = a
            self.b = b
            self.c = c
        }

        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            let joined = JoinSubscription<Output, Output, Failure>(.each, count: 3, AnySubscriber(subscriber)) { $0 }
            subscriber.receive(subscription: joined)
            joined.subscribe(a, 0) { $0 }
            joined.subscribe(b, 1) { $0 }
            joined.subscribe(c, 2) { $0 }
        }
    }

    /// The values of four publishers, in the order in which they come.
    public struct Merge4<
        A: Publisher, B: Publisher, C: Publisher, D: Publisher
    >: Publisher
    where
        A.Output == B.Output, A.Failure == B.Failure, B.Output == C.Output, B.Failure == C.Failure,
        C.Output == D.Output, C.Failure == D.Failure
    {
        public typealias Output = A.Output
        public typealias Failure = A.Failure

        public let a: A
        public let b: B
        public let c: C
        public let d: D

        public init(_ a: A, _ b: B, _ c: C, _ d: D) {
            self.a = a
            self.b = b
            self.c = c
            self.d = d
        }

        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            let joined = JoinSubscription<Output, Output, Failure>(.each, count: 4, AnySubscriber(subscriber)) { $0 }
            subscriber.receive(subscription: joined)
            joined.subscribe(a, 0) { $0 }
            joined.subscribe(b, 1) { $0 }
            joined.subscribe(c, 2) { $0 }
            joined.subscribe(d, 3) { $0 }
        }
    }

    /// The values of any number of publishers of one type, in the order in which they come.
    public struct MergeMany<Upstream: Publisher>: Publisher {
        public typealias Output = Upstream.Output
        public typealias Failure = Upstream.Failure

        public let publishers: [Upstream]

        public init(_ upstream: Upstream...) { publishers = upstream }

        public init<Upstreams: Swift.Sequence>(_ upstream: Upstreams) where Upstreams.Element == Upstream {
            publishers = Array(upstream)
        }

        /// With one more.
        public func merge(with other: Upstream) -> MergeMany<Upstream> { MergeMany(publishers + [other]) }

        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            let joined = JoinSubscription<Output, Output, Failure>(
                .each, count: publishers.count, AnySubscriber(subscriber)
            ) { $0 }
            subscriber.receive(subscription: joined)
            for (index, publisher) in publishers.enumerated() { joined.subscribe(publisher, index) { $0 } }
            joined.begin()
        }
    }
}

extension Publisher {
    /// Publishes the values of this publisher and another, in the order in which they come.
    public func merge<B: Publisher>(with other: B) -> Publishers.Merge<Self, B>
    where B.Output == Output, B.Failure == Failure { Publishers.Merge<Self, B>(self, other) }

    /// Publishes the values of this publisher and two others, in the order in which they come.
    public func merge<B: Publisher, C: Publisher>(with b: B, _ c: C) -> Publishers.Merge3<Self, B, C>
    where B.Output == Output, B.Failure == Failure, C.Output == Output, C.Failure == Failure {
        Publishers.Merge3<Self, B, C>(self, b, c)
    }

    /// Publishes the values of this publisher and three others, in the order in which they come.
    public func merge<B: Publisher, C: Publisher, D: Publisher>(with b: B, _ c: C, _ d: D)
        -> Publishers.Merge4<Self, B, C, D>
    where
        B.Output == Output, B.Failure == Failure, C.Output == Output, C.Failure == Failure, D.Output == Output,
        D.Failure == Failure
    { Publishers.Merge4<Self, B, C, D>(self, b, c, d) }

    /// Publishes the values of this publisher and another of its type, in the order in which they come.
    public func merge(with other: Self) -> Publishers.MergeMany<Self> { Publishers.MergeMany(self, other) }
}
