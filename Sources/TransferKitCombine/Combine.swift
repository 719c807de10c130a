public import OpenCombine

/// The names of Combine, for code that writes them with their module: `Combine.Subscription`.
///
/// On Linux they are those of OpenCombine.
public enum Combine {
    /// `AnyCancellable` of OpenCombine.
    public typealias AnyCancellable = OpenCombine.AnyCancellable
    /// `AnyPublisher` of OpenCombine.
    public typealias AnyPublisher<Output, Failure: Error> = OpenCombine.AnyPublisher<Output, Failure>
    /// `AnySubscriber` of OpenCombine.
    public typealias AnySubscriber<Input, Failure: Error> = OpenCombine.AnySubscriber<Input, Failure>
    /// `Cancellable` of OpenCombine.
    public typealias Cancellable = OpenCombine.Cancellable
    /// `CombineIdentifier` of OpenCombine.
    public typealias CombineIdentifier = OpenCombine.CombineIdentifier
    /// `ConnectablePublisher` of OpenCombine.
    public typealias ConnectablePublisher = OpenCombine.ConnectablePublisher
    /// `CurrentValueSubject` of OpenCombine.
    public typealias CurrentValueSubject<Output, Failure: Error> = OpenCombine.CurrentValueSubject<Output, Failure>
    /// `CustomCombineIdentifierConvertible` of OpenCombine.
    public typealias CustomCombineIdentifierConvertible = OpenCombine.CustomCombineIdentifierConvertible
    /// `Deferred` of OpenCombine.
    public typealias Deferred<DeferredPublisher: OpenCombine.Publisher> = OpenCombine.Deferred<DeferredPublisher>
    /// `Empty` of OpenCombine.
    public typealias Empty<Output, Failure: Error> = OpenCombine.Empty<Output, Failure>
    /// `Fail` of OpenCombine.
    public typealias Fail<Output, Failure: Error> = OpenCombine.Fail<Output, Failure>
    /// `Future` of OpenCombine.
    public typealias Future<Output, Failure: Error> = OpenCombine.Future<Output, Failure>
    /// `ImmediateScheduler` of OpenCombine.
    public typealias ImmediateScheduler = OpenCombine.ImmediateScheduler
    /// `Just` of OpenCombine.
    public typealias Just<Output> = OpenCombine.Just<Output>
    /// `ObservableObject` of OpenCombine.
    public typealias ObservableObject = OpenCombine.ObservableObject
    /// `ObservableObjectPublisher` of OpenCombine.
    public typealias ObservableObjectPublisher = OpenCombine.ObservableObjectPublisher
    /// `PassthroughSubject` of OpenCombine.
    public typealias PassthroughSubject<Output, Failure: Error> = OpenCombine.PassthroughSubject<Output, Failure>
    /// `Published` of OpenCombine.
    public typealias Published<Value> = OpenCombine.Published<Value>
    /// `Publisher` of OpenCombine.
    public typealias Publisher = OpenCombine.Publisher
    /// `Publishers` of OpenCombine.
    public typealias Publishers = OpenCombine.Publishers
    /// `Record` of OpenCombine.
    public typealias Record<Output, Failure: Error> = OpenCombine.Record<Output, Failure>
    /// `Scheduler` of OpenCombine.
    public typealias Scheduler = OpenCombine.Scheduler
    /// `Subject` of OpenCombine.
    public typealias Subject = OpenCombine.Subject
    /// `Subscriber` of OpenCombine.
    public typealias Subscriber = OpenCombine.Subscriber
    /// `Subscribers` of OpenCombine.
    public typealias Subscribers = OpenCombine.Subscribers
    /// `Subscription` of OpenCombine.
    public typealias Subscription = OpenCombine.Subscription
    /// `Subscriptions` of OpenCombine.
    public typealias Subscriptions = OpenCombine.Subscriptions
    /// `TopLevelDecoder` of OpenCombine.
    public typealias TopLevelDecoder = OpenCombine.TopLevelDecoder
    /// `TopLevelEncoder` of OpenCombine.
    public typealias TopLevelEncoder = OpenCombine.TopLevelEncoder
}
