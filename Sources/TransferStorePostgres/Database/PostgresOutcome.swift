/// The result of a transaction, as its body leaves it.
package struct PostgresOutcome<Value> {
    /// Reads the result out of the answers to what the body has posted. The transaction's end goes with these, so it's called
    /// when they are there.
    let value: () throws -> Value
    /// Asks the database for the result of a transaction that is there and whose answers were lost.
    let lookUp: (PostgresConnection) throws -> Value
    /// Looks whether the rows are as the transaction leaves them, where its number tells nothing; `nil` where nobody can
    /// tell by the rows.
    let isThere: ((PostgresConnection) throws -> Bool)?

    package init(
        value: @escaping () throws -> Value, lookUp: @escaping (PostgresConnection) throws -> Value,
        isThere: ((PostgresConnection) throws -> Bool)? = nil
    ) {
        (self.value, self.lookUp, self.isThere) = (value, lookUp, isThere)
    }

    /// A result that is known before the transaction's end.
    package init(_ value: Value, isThere: ((PostgresConnection) throws -> Bool)? = nil) {
        self.init(value: { value }, lookUp: { _ in value }, isThere: isThere)
    }
}
