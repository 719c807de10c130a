public import FoundationNetworking

/// A namespace, `af`, for additions to types of other libraries, apart from their own members.
public struct AlamofireExtension<ExtendedType> {
    /// The extended type or value.
    public private(set) var type: ExtendedType

    /// Creates the namespace of a value.
    public init(_ type: ExtendedType) { self.type = type }
}

extension AlamofireExtension: Sendable where ExtendedType: Sendable {}

/// A type with additions in the namespace `af`.
public protocol AlamofireExtended {
    /// The extended type.
    associatedtype ExtendedType

    /// The additions to the type.
    static var af: AlamofireExtension<ExtendedType>.Type { get }
    /// The additions to a value.
    var af: AlamofireExtension<ExtendedType> { get }
}

extension AlamofireExtended {
    /// The additions to the type.
    public static var af: AlamofireExtension<Self>.Type { AlamofireExtension<Self>.self }

    /// The additions to a value.
    public var af: AlamofireExtension<Self> { AlamofireExtension(self) }
}

extension URLSessionConfiguration: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: URLSessionConfiguration {
    /// A new `URLSessionConfiguration.default` with the header fields of `HTTPHeaders.default`.
    public static var `default`: URLSessionConfiguration { withDefaultHeaders(.default) }

    /// A new `URLSessionConfiguration.ephemeral` with the header fields of `HTTPHeaders.default`.
    public static var ephemeral: URLSessionConfiguration { withDefaultHeaders(.ephemeral) }

    private static func withDefaultHeaders(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        configuration.headers = .default
        return configuration
    }
}

extension Session: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: Session {
    /// The default session, in the form that some documents use.
    public static var `default`: Session { Session.default }
}
