"""What people see: values of the library as text on a rich console. Imported only when a person is looking."""
