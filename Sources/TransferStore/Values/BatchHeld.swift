/// A batch that another process works on.
struct BatchHeld: Error, Sendable {
    let batch: String
    let pid: Int32
}
