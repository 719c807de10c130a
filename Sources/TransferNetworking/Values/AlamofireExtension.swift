public import FoundationNetworking

/// Keeps additions to the types of others under one name, `af`, out of the way of their own members.
public struct AlamofireExtension<ExtendedType> {
    /// The type that is extended.
    public private(set) var type: ExtendedType

    public init(_ type: ExtendedType) { self.type = type }
}

extension AlamofireExtension: Sendable where ExtendedType: Sendable {}

/// A type with additions under `af`.
public protocol AlamofireExtended {
    associatedtype ExtendedType

    /// Additions to the type.
    static var af: AlamofireExtension<ExtendedType>.Type { get }
    /// Additions to a value.
    var af: AlamofireExtension<ExtendedType> { get }
}

extension AlamofireExtended {
    /// Additions to the type.
    public static var af: AlamofireExtension<Self>.Type { AlamofireExtension<Self>.self }

    /// Additions to a value.
    public var af: AlamofireExtension<Self> { AlamofireExtension(self) }
}

extension URLSessionConfiguration: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: URLSessionConfiguration {
    /// A new `URLSessionConfiguration.default` with the headers of `HTTPHeaders.default`.
    public static var `default`: URLSessionConfiguration { withDefaultHeaders(.default) }

    /// A new `URLSessionConfiguration.ephemeral` with the headers of `HTTPHeaders.default`.
    public static var ephemeral: URLSessionConfiguration { withDefaultHeaders(.ephemeral) }

    private static func withDefaultHeaders(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        configuration.headers = .default
        return configuration
    }
}

extension Session: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: Session {
    /// `Session.default`, as some documents write it.
    public static var `default`: Session { Session.default }
}
