from django.db import migrations, models


class Migration(migrations.Migration):
    """A definition that is added to the lead's own prompt instead of standing in its place."""

    dependencies = [("spaces", "0005_subagent_prompt")]

    operations = [
        migrations.AddField(
            model_name="bounddefinition",
            name="joins",
            field=models.BooleanField(default=False),
        ),
    ]
