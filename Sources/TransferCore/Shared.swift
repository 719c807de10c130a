/// A large value behind one reference: to copy what holds it costs one count, not one for each of its fields, and who
/// changes a copy changes its own.
@propertyWrapper
public struct Shared<Value: Sendable>: Sendable {
    /// `@unchecked Sendable`: `value` is only changed by its one owner.
    @usableFromInline final class Box: @unchecked Sendable {
        @usableFromInline var value: Value
        @inlinable init(_ value: Value) { self.value = value }
    }

    @usableFromInline var box: Box

    @inlinable public init(wrappedValue: Value) { box = Box(wrappedValue) }

    @inlinable public var wrappedValue: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }

    /// What several holders can have in common.
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
