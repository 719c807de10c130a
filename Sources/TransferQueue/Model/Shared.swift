/// A large value that never changes behind one reference: to copy what holds it costs a count, not one for each of its
/// fields.
@propertyWrapper
struct Shared<Value: Sendable>: Sendable {
    private final class Box: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private let box: Box

    init(wrappedValue: Value) { box = Box(wrappedValue) }

    var wrappedValue: Value { box.value }
}
