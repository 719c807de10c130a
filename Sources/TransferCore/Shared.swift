/// A large value behind one reference. A copy of its owner costs one reference count instead of one for each field, and
/// a changed copy does not affect others.
///
/// The value behind the reference never changes, so its fields are read in place. Each change makes a new value, which
/// costs an allocation. The type is for values that are created once and read often.
@propertyWrapper
public struct Shared<Value: Sendable>: Sendable {
    @usableFromInline final class Box: Sendable {
        @usableFromInline let value: Value
        @inlinable init(_ value: Value) { self.value = value }
    }

    @usableFromInline var box: Box

    /// Creates a reference to a value.
    @inlinable public init(wrappedValue: Value) { box = Box(wrappedValue) }

    /// The value; a change of it makes a new reference.
    @inlinable public var wrappedValue: Value {
        _read { yield box.value }
        _modify {
            var value = box.value
            defer { box = Box(value) }
            yield &value
        }
    }

    /// Returns whether both are the same reference; equal values may have two.
    @inlinable public func isSame(as other: Shared) -> Bool { box === other.box }

    /// The reference itself, which several owners can share.
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
