public import OpenCombine

// Combine's publishers of latest values, which OpenCombine lacks. JoinState has their rules.

/// The latest value of one publisher.
private final class Latest<Value> {
    var value: Value?
}

extension Publishers {
    /// A publisher of the latest values of two publishers. It publishes each new value once both publishers have one.
    public struct CombineLatest<
        A: Publisher, B: Publisher
    >: Publisher where A.Failure == B.Failure {
        /// The published values: tuples of the latest values.
        public typealias Output = (A.Output, B.Output)
        /// The failure, which any of the publishers can cause.
        public typealias Failure = A.Failure

        /// The first publisher.
        public let a: A
        /// The second publisher.
        public let b: B

        /// Creates a publisher that combines two others.
        public init(_ a: A, _ b: B) {
            self.a = a
            self.b = b
        }

        /// Subscribes a subscriber to both publishers.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            let latestA = Latest<A.Output>()
            let latestB = Latest<B.Output>()
            let joined = JoinSubscription<Void, Output, Failure>(.latest, count: 2, AnySubscriber(subscriber)) {
                guard let a = latestA.value, let b = latestB.value else { return nil }
                return (a, b)
            }
            subscriber.receive(subscription: joined)
            joined.subscribe(a, 0) { latestA.value = $0 }
            joined.subscribe(b, 1) { latestB.value = $0 }
        }
    }

    /// A publisher of the latest values of three publishers. It publishes each new value once all publishers have one.
    public struct CombineLatest3<
        A: Publisher, B: Publisher, C: Publisher
    >: Publisher where A.Failure == B.Failure, B.Failure == C.Failure {
        /// The published values: tuples of the latest values.
        public typealias Output = (A.Output, B.Output, C.Output)
        /// The failure, which any of the publishers can cause.
        public typealias Failure = A.Failure

        /// The first publisher.
        public let a: A
        /// The second publisher.
        public let b: B
        /// The third publisher.
        public let c: C

        /// Creates a publisher that combines three others.
        public init(_ a: A, _ b: B, _ c: C) {
            self.a = a
            self.b = b
            self.c = c
        }

        /// Subscribes a subscriber to all publishers.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            let latestA = Latest<A.Output>()
            let latestB = Latest<B.Output>()
            let latestC = Latest<C.Output>()
            let joined = JoinSubscription<Void, Output, Failure>(.latest, count: 3, AnySubscriber(subscriber)) {
                guard let a = latestA.value, let b = latestB.value, let c = latestC.value else { return nil }
                return (a, b, c)
            }
            subscriber.receive(subscription: joined)
            joined.subscribe(a, 0) { latestA.value = $0 }
            joined.subscribe(b, 1) { latestB.value = $0 }
            joined.subscribe(c, 2) { latestC.value = $0 }
        }
    }

    /// A publisher of the latest values of four publishers. It publishes each new value once all publishers have one.
    public struct CombineLatest4<
        A: Publisher, B: Publisher, C: Publisher, D: Publisher
    >: Publisher where A.Failure == B.Failure, B.Failure == C.Failure, C.Failure == D.Failure {
        /// The published values: tuples of the latest values.
        public typealias Output = (A.Output, B.Output, C.Output, D.Output)
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

        /// Creates a publisher that combines four others.
        public init(_ a: A, _ b: B, _ c: C, _ d: D) {
            self.a = a
            self.b = b
            self.c = c
            self.d = d
        }

        /// Subscribes a subscriber to all publishers.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            let latestA = Latest<A.Output>()
            let latestB = Latest<B.Output>()
            let latestC = Latest<C.Output>()
            let latestD = Latest<D.Output>()
            let joined = JoinSubscription<Void, Output, Failure>(.latest, count: 4, AnySubscriber(subscriber)) {
                guard let a = latestA.value, let b = latestB.value, let c = latestC.value, let d = latestD.value else {
                    return nil
                }
                return (a, b, c, d)
            }
            subscriber.receive(subscription: joined)
            joined.subscribe(a, 0) { latestA.value = $0 }
            joined.subscribe(b, 1) { latestB.value = $0 }
            joined.subscribe(c, 2) { latestC.value = $0 }
            joined.subscribe(d, 3) { latestD.value = $0 }
        }
    }
}

extension Publisher {
    /// Returns a publisher of the latest values of this publisher and another one, once both have a value.
    public func combineLatest<P: Publisher>(_ other: P) -> Publishers.CombineLatest<Self, P>
    where P.Failure == Failure { Publishers.CombineLatest<Self, P>(self, other) }

    /// Returns a publisher of the values that `transform` makes of the latest values.
    public func combineLatest<P: Publisher, T>(
        _ other: P, _ transform: @escaping (Output, P.Output) -> T
    ) -> Publishers.Map<Publishers.CombineLatest<Self, P>, T>
    where P.Failure == Failure { combineLatest(other).map { transform($0.0, $0.1) } }

    /// Returns a publisher of the latest values of this publisher and two others, once all have a value.
    public func combineLatest<P: Publisher, Q: Publisher>(_ publisher1: P, _ publisher2: Q)
        -> Publishers.CombineLatest3<Self, P, Q>
    where P.Failure == Failure, Q.Failure == Failure {
        Publishers.CombineLatest3<Self, P, Q>(self, publisher1, publisher2)
    }

    /// Returns a publisher of the values that `transform` makes of the latest values.
    public func combineLatest<P: Publisher, Q: Publisher, T>(
        _ publisher1: P, _ publisher2: Q, _ transform: @escaping (Output, P.Output, Q.Output) -> T
    ) -> Publishers.Map<Publishers.CombineLatest3<Self, P, Q>, T>
    where P.Failure == Failure, Q.Failure == Failure {
        combineLatest(publisher1, publisher2).map { transform($0.0, $0.1, $0.2) }
    }

    /// Returns a publisher of the latest values of this publisher and three others, once all have a value.
    public func combineLatest<P: Publisher, Q: Publisher, R: Publisher>(
        _ publisher1: P, _ publisher2: Q, _ publisher3: R
    ) -> Publishers.CombineLatest4<Self, P, Q, R>
    where P.Failure == Failure, Q.Failure == Failure, R.Failure == Failure {
        Publishers.CombineLatest4<Self, P, Q, R>(self, publisher1, publisher2, publisher3)
    }

    /// Returns a publisher of the values that `transform` makes of the latest values.
    public func combineLatest<P: Publisher, Q: Publisher, R: Publisher, T>(
        _ publisher1: P, _ publisher2: Q, _ publisher3: R,
        _ transform: @escaping (Output, P.Output, Q.Output, R.Output) -> T
    ) -> Publishers.Map<Publishers.CombineLatest4<Self, P, Q, R>, T>
    where P.Failure == Failure, Q.Failure == Failure, R.Failure == Failure {
        combineLatest(publisher1, publisher2, publisher3).map { transform($0.0, $0.1, $0.2, $0.3) }
    }
}
