/// A large value behind one reference: to copy what holds it costs one count, not one for each of its fields, and who
/// changes a copy changes its own.
///
/// The value behind the reference never changes, so that a field of it is read where it is. Each change makes a new
/// value, which costs an allocation: it's for what is made once and read often.
@propertyWrapper
public struct Shared<Value: Sendable>: Sendable {
    @usableFromInline final class Box: Sendable {
        @usableFromInline let value: Value
        @inlinable init(_ value: Value) { self.value = value }
    }

    @usableFromInline var box: Box

    @inlinable public init(wrappedValue: Value) { box = Box(wrappedValue) }

    @inlinable public var wrappedValue: Value {
        _read { yield box.value }
        _modify {
            var value = box.value
            defer { box = Box(value) }
            yield &value
        }
    }

    /// Whether both are the same reference; equal values may be behind two.
    @inlinable public func isSame(as other: Shared) -> Bool { box === other.box }

    /// The box that several holders can have in common.
    @inlinable public var projectedValue: Shared {
        get { self }
        set { self = newValue }
    }
}

extension Shared: Equatable where Value: Equatable {
    @inlinable public static func == (one: Shared, other: Shared) -> Bool {
        one.box === other.box || one.box.value == other.box.value
    }
}

extension Shared: Hashable where Value: Hashable {
    @inlinable public func hash(into hasher: inout Hasher) { hasher.combine(box.value) }
}
