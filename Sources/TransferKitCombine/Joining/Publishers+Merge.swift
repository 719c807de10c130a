public import OpenCombine

// Combine's merging publishers, which OpenCombine lacks. JoinState has their rules.

extension Publishers {
    /// A publisher of the values of two publishers, in the order of their arrival.
    public struct Merge<
        A: Publisher, B: Publisher
    >: Publisher
    where
        A.Output == B.Output, A.Failure == B.Failure
    {
        /// The published values.
        public typealias Output = A.Output
        /// The failure, which any of the publishers can cause.
        public typealias Failure = A.Failure

        /// The first publisher.
        public let a: A
        /// The second publisher.
        public let b: B

        /// Creates a publisher that merges two others.
        public init(_ a: A, _ b: B) {
            self.a = a
            self.b = b
        }

        /// Subscribes a subscriber to both publishers.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            let joined = JoinSubscription<Output, Output, Failure>(.each, count: 2, AnySubscriber(subscriber)) { $0 }
            subscriber.receive(subscription: joined)
            joined.subscribe(a, 0) { $0 }
            joined.subscribe(b, 1) { $0 }
        }
    }

    /// A publisher of the values of three publishers, in the order of their arrival.
    public struct Merge3<
        A: Publisher, B: Publisher, C: Publisher
    >: Publisher
    where
        A.Output == B.Output, A.Failure == B.Failure, B.Output == C.Output, B.Failure == C.Failure
    {
        /// The published values.
        public typealias Output = A.Output
        /// The failure, which any of the publishers can cause.
        public typealias Failure = A.Failure

        /// The first publisher.
        public let a: A
        /// The second publisher.
        public let b: B
        /// The third publisher.
        public let c: C

        /// Creates a publisher that merges three others.
        public init(_ a: A, _ b: B, _ c: C) {
            self.a = a
            self.b = b
            self.c = c
        }

        /// Subscribes a subscriber to all publishers.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            let joined = JoinSubscription<Output, Output, Failure>(.each, count: 3, AnySubscriber(subscriber)) { $0 }
            subscriber.receive(subscription: joined)
            joined.subscribe(a, 0) { $0 }
            joined.subscribe(b, 1) { $0 }
            joined.subscribe(c, 2) { $0 }
        }
    }

    /// A publisher of the values of four publishers, in the order of their arrival.
    public struct Merge4<
        A: Publisher, B: Publisher, C: Publisher, D: Publisher
    >: Publisher
    where
        A.Output == B.Output, A.Failure == B.Failure, B.Output == C.Output, B.Failure == C.Failure,
        C.Output == D.Output, C.Failure == D.Failure
    {
        /// The published values.
        public typealias Output = A.Output
        /// The failure, which any of the publishers can cause.
        public typealias Failure = A.Failure

        /// The first publisher.
        public let a: A
        /// The second publisher.
        public let b: B
        /// The third publisher.
        public let c: C
        /// The fourth publisher.
        public let d: D

        /// Creates a publisher that merges four others.
        public init(_ a: A, _ b: B, _ c: C, _ d: D) {
            self.a = a
            self.b = b
            self.c = c
            self.d = d
        }

        /// Subscribes a subscriber to all publishers.
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

    /// A publisher of the values of any number of publishers of one type, in the order of their arrival.
    public struct MergeMany<Upstream: Publisher>: Publisher {
        /// The published values.
        public typealias Output = Upstream.Output
        /// The failure, which any of the publishers can cause.
        public typealias Failure = Upstream.Failure

        /// The publishers that are merged.
        public let publishers: [Upstream]

        /// Creates a publisher that merges the given ones.
        public init(_ upstream: Upstream...) { publishers = upstream }

        /// Creates a publisher that merges the elements of a sequence.
        public init<Upstreams: Swift.Sequence>(_ upstream: Upstreams) where Upstreams.Element == Upstream {
            publishers = Array(upstream)
        }

        /// Returns a publisher that also merges another one.
        public func merge(with other: Upstream) -> MergeMany<Upstream> { MergeMany(publishers + [other]) }

        /// Subscribes a subscriber to all publishers.
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
    /// Returns a publisher of the values of this publisher and another one, in the order of their arrival.
    public func merge<B: Publisher>(with other: B) -> Publishers.Merge<Self, B>
    where B.Output == Output, B.Failure == Failure { Publishers.Merge<Self, B>(self, other) }

    /// Returns a publisher of the values of this publisher and two others, in the order of their arrival.
    public func merge<B: Publisher, C: Publisher>(with b: B, _ c: C) -> Publishers.Merge3<Self, B, C>
    where B.Output == Output, B.Failure == Failure, C.Output == Output, C.Failure == Failure {
        Publishers.Merge3<Self, B, C>(self, b, c)
    }

    /// Returns a publisher of the values of this publisher and three others, in the order of their arrival.
    public func merge<B: Publisher, C: Publisher, D: Publisher>(with b: B, _ c: C, _ d: D)
        -> Publishers.Merge4<Self, B, C, D>
    where
        B.Output == Output, B.Failure == Failure, C.Output == Output, C.Failure == Failure, D.Output == Output,
        D.Failure == Failure
    { Publishers.Merge4<Self, B, C, D>(self, b, c, d) }

    /// Returns a publisher of the values of this publisher and another one of its type, in the order of their arrival.
    public func merge(with other: Self) -> Publishers.MergeMany<Self> { Publishers.MergeMany(self, other) }
}
