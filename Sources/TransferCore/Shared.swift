/// A large value behind one reference: to copy what holds it costs one count, not one for each of its fields, and who
/// changes a copy changes its own.
@propertyWrapper
public struct Shared<Value: Sendable>: Sendable {
    /// `@unchecked Sendable`: `value` is only changed by its one owner.
    private final class Box: @unchecked Sendable {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    public init(wrappedValue: Value) { box = Box(wrappedValue) }

    public var wrappedValue: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }

    /// What several holders can have in common.
    public var projectedValue: Shared {
        get { self }
        set { self = newValue }
    }
}

extension Shared: Equatable where Value: Equatable {
    public static func == (one: Shared, other: Shared) -> Bool {
        one.box === other.box || one.box.value == other.box.value
    }
}
