/// A batch that another process works on.
package struct BatchHeld: Error, Sendable {
    package let batch: String
    package let pid: Int32
}
