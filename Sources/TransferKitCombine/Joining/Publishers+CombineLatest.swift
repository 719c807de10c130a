public import OpenCombine

// What OpenCombine lacks of Combine's publishers that join others; see JoinState for the rule.

/// The latest value of one publisher.
private final class Latest<Value> {
    var value: Value?
}

extension Publishers {
    /// The latest values of two publishers, whenever one of them publishes and all have.
    public struct CombineLatest<
        A: Publisher, B: Publisher
    >: Publisher where A.Failure == B.Failure {
        public typealias Output = (A.Output, B.Output)
        public typealias Failure = A.Failure

        public let a: A
        public let b: B

        public init(_ a: A, _ b: B) {
            self.a = a
            self.b = b
        }

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

    /// The latest values of three publishers, whenever one of them publishes and all have.
    public struct CombineLatest3<
        A: Publisher, B: Publisher, C: Publisher
    >: Publisher where A.Failure == B.Failure, B.Failure == C.Failure {
        public typealias Output = (A.Output, B.Output, C.Output)
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

    /// The latest values of four publishers, whenever one of them publishes and all have.
    public struct CombineLatest4<
        A: Publisher, B: Publisher, C: Publisher, D: Publisher
    >: Publisher where A.Failure == B.Failure, B.Failure == C.Failure, C.Failure == D.Failure {
        public typealias Output = (A.Output, B.Output, C.Output, D.Output)
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
    /// The latest values of this publisher and another, whenever one of them publishes and all have.
    public func combineLatest<P: Publisher>(_ other: P) -> Publishers.CombineLatest<Self, P>
    where P.Failure == Failure { Publishers.CombineLatest<Self, P>(self, other) }

    /// Publishes the values that `transform` makes of the latest values.
    public func combineLatest<P: Publisher, T>(
        _ other: P, _ transform: @escaping (Output, P.Output) -> T
    ) -> Publishers.Map<Publishers.CombineLatest<Self, P>, T>
    where P.Failure == Failure { combineLatest(other).map { transform($0.0, $0.1) } }

    /// The latest values of this publisher and two others, whenever one of them publishes and all have.
    public func combineLatest<P: Publisher, Q: Publisher>(_ publisher1: P, _ publisher2: Q)
        -> Publishers.CombineLatest3<Self, P, Q>
    where P.Failure == Failure, Q.Failure == Failure {
        Publishers.CombineLatest3<Self, P, Q>(self, publisher1, publisher2)
    }

    /// Publishes the values that `transform` makes of the latest values.
    public func combineLatest<P: Publisher, Q: Publisher, T>(
        _ publisher1: P, _ publisher2: Q, _ transform: @escaping (Output, P.Output, Q.Output) -> T
    ) -> Publishers.Map<Publishers.CombineLatest3<Self, P, Q>, T>
    where P.Failure == Failure, Q.Failure == Failure {
        combineLatest(publisher1, publisher2).map { transform($0.0, $0.1, $0.2) }
    }

    /// The latest values of this publisher and three others, whenever one of them publishes and all have.
    public func combineLatest<P: Publisher, Q: Publisher, R: Publisher>(
        _ publisher1: P, _ publisher2: Q, _ publisher3: R
    ) -> Publishers.CombineLatest4<Self, P, Q, R>
    where P.Failure == Failure, Q.Failure == Failure, R.Failure == Failure {
        Publishers.CombineLatest4<Self, P, Q, R>(self, publisher1, publisher2, publisher3)
    }

    /// Publishes the values that `transform` makes of the latest values.
    public func combineLatest<P: Publisher, Q: Publisher, R: Publisher, T>(
        _ publisher1: P, _ publisher2: Q, _ publisher3: R,
        _ transform: @escaping (Output, P.Output, Q.Output, R.Output) -> T
    ) -> Publishers.Map<Publishers.CombineLatest4<Self, P, Q, R>, T>
    where P.Failure == Failure, Q.Failure == Failure, R.Failure == Failure {
        combineLatest(publisher1, publisher2, publisher3).map { transform($0.0, $0.1, $0.2, $0.3) }
    }
}
