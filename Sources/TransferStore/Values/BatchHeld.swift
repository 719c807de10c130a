/// A batch that another process works on.
package struct BatchHeld: Error, Sendable {
    package let batch: String
    package let pid: Int32

    package init(batch: String, pid: Int32) {
        self.batch = batch
        self.pid = pid
    }
}
